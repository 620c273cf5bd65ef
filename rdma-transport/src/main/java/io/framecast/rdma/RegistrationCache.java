package io.framecast.rdma;

import io.framecast.api.error.DeviceException;
import io.framecast.api.error.NativeException;
import io.framecast.api.error.TransportException;
import io.framecast.api.provider.ScopedLock;
import io.framecast.api.spi.DeviceAllocation;
import io.framecast.api.spi.DeviceAllocation.DmaBuf;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.rdma.verbs.Access;
import io.framecast.rdma.verbs.MemoryRegion;
import io.framecast.rdma.verbs.ProtectionDomain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Memory regions by address range, shared by lanes and kept a while after the last of them let go: to
/// register pins every page, and memory that is registered twice counts twice against the limit.
///
/// Only memory whose end is known (the arena of host memory, the allocation of device memory) and that no peer can
/// reach is kept unused, least recently used first to go. It is deregistered within seconds after its end; memory of
/// another arena or allocation at the same address is never taken for it. All other is deregistered with its last
/// lease.
///
/// Threading: any thread; called when lanes open and close and when they have nothing to do, never on the
/// data path.
final class RegistrationCache implements AutoCloseable {
    /// As many as the buffers that a user may post.
    static final int IDLE_MAX = 256;
    static final long IDLE_BYTES_MAX = 1L << 30;
    private static final int ENOMEM = 12;
    private static final int ENOSPC = 28;
    private static final long LOOK_NS = 1_000_000_000;
    private static final int PEERS = Access.REMOTE_READ | Access.REMOTE_WRITE;

    private final ProtectionDomain domain;
    private final ScopedLock lock = new ScopedLock();
    /// The most recently used one last.
    private final List<Entry> entries = new ArrayList<>();

    // Read by threads that must not wait for a registration.
    private final AtomicLong hits = new AtomicLong();
    private final AtomicLong misses = new AtomicLong();
    // Its domain goes with it.
    private boolean closed;
    private volatile long lookedNs = System.nanoTime();

    /// A region in use until it is closed.
    final class Lease implements AutoCloseable {
        private final Entry entry;
        private boolean closed;

        private Lease(final Entry entry) {
            this.entry = entry;
        }

        MemoryRegion region() {
            return entry.region;
        }

        int localKey() {
            return entry.region.localKey();
        }

        /// Idempotent.
        @Override
        public void close() {
            try (ScopedLock.Scope _ = lock.hold()) {
                if (!closed) {
                    closed = true;
                    release(entry);
                }
            }
        }
    }

    /// @param scope of the memory, an arena's or a [DeviceAllocation]; null where it may not be kept unused
    private record What(
            long address,
            long bytes,
            int access,
            int dmaBuf,
            @Nullable Object scope) {
        // Other lanes of the memory's owner may use a part, and less than was asked for.
        boolean covers(final What other) {
            final long offset = other.address - address;
            return offset >= 0
                    && other.bytes <= bytes - offset
                    && (access & other.access) == other.access
                    && dmaBuf == other.dmaBuf
                    && Objects.equals(scope, other.scope);
        }

        // A region that peers may reach closes with its last lease: its memory may have another owner next, and the
        // peers know its key.
        boolean mayIdle() {
            return scope != null
                    && (access & PEERS) == 0
                    && !(scope instanceof final MemorySegment.Scope arena && !arena.isAlive());
        }

        @Nullable
        DeviceAllocation allocation() {
            return scope instanceof final DeviceAllocation known ? known : null;
        }
    }

    private static final class Entry {
        private final What what;
        private final MemoryRegion region;
        private int users;
        // Its device memory was found freed.
        private boolean isGone;

        private Entry(final What what, final MemoryRegion region) {
            this.what = what;
            this.region = region;
        }
    }

    RegistrationCache(final ProtectionDomain domain) {
        this.domain = domain;
    }

    /// @param access flags of [io.framecast.rdma.verbs.Access]
    Lease lease(final MemorySegment memory, final int access) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("memory region: expected native memory, got a Java array's");
        }
        final MemorySegment.Scope scope = memory.scope();
        final boolean isForever = scope.equals(Arena.global().scope());
        return lease(new What(
                memory.address(), memory.byteSize(), access, DeviceRegion.NO_DMA_BUF, isForever ? null : scope));
    }

    /// Host memory as it is; device memory by dma-buf, its own or one that is exported for the registration,
    /// else, where it has none or this device takes none, by a driver of its device that knows its addresses
    /// (nvidia-peermem).
    Lease lease(final DeviceRegion memory, final int access) {
        if (memory.dmaBufDescriptor() == DeviceRegion.NO_DMA_BUF && memory.hostAddressable()) {
            return lease(memory.host().asSlice(0, memory.bytes()), access);
        }
        return lease(
                new What(memory.address(), memory.bytes(), access, memory.dmaBufDescriptor(), memory.allocation()));
    }

    private Lease lease(final What what) {
        try (ScopedLock.Scope _ = lock.hold()) {
            if (closed) {
                throw new TransportException("verbs: the transport is closed; open another");
            }
            trim();
            for (int i = entries.size() - 1; i >= 0; i--) {
                final Entry entry = entries.get(i);
                if (entry.what.covers(what)) {
                    entries.remove(i);
                    hits.incrementAndGet();
                    return use(entry);
                }
            }
            misses.incrementAndGet();
            return use(new Entry(what, registerWithRoom(what)));
        }
    }

    // Unused regions give way where the device, or the window through which it sees a GPU, has no room.
    private MemoryRegion registerWithRoom(final What what) {
        try {
            return register(what);
        } catch (final NativeException e) {
            if (!isForRoom(e) || !trim(0)) {
                throw e;
            }
            return register(what);
        }
    }

    private static boolean isForRoom(final NativeException refusal) {
        return refusal.errno() == ENOMEM || refusal.errno() == ENOSPC;
    }

    private Lease use(final Entry entry) {
        entry.users++;
        entries.add(entry);
        return new Lease(entry);
    }

    private MemoryRegion register(final What what) {
        if (what.dmaBuf != DeviceRegion.NO_DMA_BUF) {
            return registerDmaBuf(what, what.dmaBuf, 0);
        }
        try (DmaBuf export = export(what)) {
            return export == null
                    ? domain.register(what.address, what.bytes, what.access)
                    : registerDmaBuf(what, export.descriptor(), export.offset());
        }
    }

    private static @Nullable DmaBuf export(final What what) {
        final DeviceAllocation allocation = what.allocation();
        try {
            return allocation == null
                    ? null
                    : allocation.export(what.address, what.bytes).orElse(null);
        } catch (final DeviceException _) {
            // A part that does not fill pages, for example. The NIC may know its address.
            return null;
        }
    }

    private MemoryRegion registerDmaBuf(final What what, final int descriptor, final long offset) {
        try {
            return domain.registerDmaBuf(descriptor, offset, what.address, what.bytes, what.access);
        } catch (final NativeException e) {
            if (!ProtectionDomain.takesNoDmaBuf(e)) {
                throw e;
            }
            try {
                return domain.register(what.address, what.bytes, what.access);
            } catch (final NativeException _) {
                // No driver knows the address: the user can only fix that the device takes no dma-buf.
                throw e;
            }
        }
    }

    private void release(final Entry entry) {
        entry.users--;
        trim();
    }

    // Unused regions beyond the limits, and regions of memory that is gone, whose pages would stay pinned.
    private void trim() {
        trim(IDLE_MAX);
    }

    private boolean trim(final int idleMax) {
        final int before = entries.size();
        int idle = 0;
        long idleBytes = 0;
        for (int i = entries.size() - 1; i >= 0; i--) {
            final Entry entry = entries.get(i);
            if (entry.users > 0) {
                continue;
            }
            idle++;
            idleBytes += entry.what.bytes;
            if (entry.isGone || !entry.what.mayIdle() || idle > idleMax || idleBytes > IDLE_BYTES_MAX) {
                entries.remove(i);
                idle--;
                idleBytes -= entry.what.bytes;
                entry.region.close();
            }
        }
        return entries.size() < before;
    }

    /// Looks once a second for memory that may be gone, which would stay pinned, and has a thread of its own
    /// deregister it: to ask a driver and to unpin much takes milliseconds. Never waits for the lock.
    void look() {
        final long nowNs = System.nanoTime();
        if (nowNs - lookedNs < LOOK_NS || !lock.tryLock()) {
            return;
        }
        try {
            lookedNs = nowNs;
            if (mayAnyBeGone()) {
                Thread.ofPlatform().daemon().name("framecast-verbs-regions").start(this::sweep);
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean mayAnyBeGone() {
        for (int i = 0; i < entries.size(); i++) {
            final Entry entry = entries.get(i);
            if (entry.users == 0 && (!entry.what.mayIdle() || entry.what.allocation() != null)) {
                return true;
            }
        }
        return false;
    }

    // Asks the driver outside the lock: leases do not wait for its answers.
    private void sweep() {
        final List<Entry> unused = new ArrayList<>();
        try (ScopedLock.Scope _ = lock.hold()) {
            for (final Entry entry : entries) {
                if (entry.users == 0 && entry.what.allocation() != null) {
                    unused.add(entry);
                }
            }
        }
        unused.removeIf(entry -> isAlive(entry.what.allocation()));
        try (ScopedLock.Scope _ = lock.hold()) {
            unused.forEach(entry -> entry.isGone = entry.users == 0);
            trim();
        } catch (final NativeException _) {
            // It stays open, and its domain says so when that is closed.
        }
    }

    // Of a device that is closed or lost nothing is.
    private static boolean isAlive(final @Nullable DeviceAllocation allocation) {
        try {
            return allocation != null && allocation.isAlive();
        } catch (final DeviceException _) {
            return false;
        }
    }

    /// Leases that found their memory registered.
    long hits() {
        return hits.get();
    }

    /// Leases that had to register.
    long misses() {
        return misses.get();
    }

    /// Regions registered now, in use or not.
    int registered() {
        try (ScopedLock.Scope _ = lock.hold()) {
            return entries.size();
        }
    }

    /// All leases were closed, and there are none any more.
    @Override
    public void close() {
        try (ScopedLock.Scope _ = lock.hold()) {
            closed = true;
            entries.forEach(entry -> entry.region.close());
            entries.clear();
        }
    }
}
