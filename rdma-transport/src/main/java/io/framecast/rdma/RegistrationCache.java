package io.framecast.rdma;

import io.framecast.api.error.NativeException;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.rdma.verbs.Access;
import io.framecast.rdma.verbs.MemoryRegion;
import io.framecast.rdma.verbs.ProtectionDomain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Memory regions by address range, shared by lanes and kept a while after the last of them let go: to
/// register pins every page, and memory that is registered twice counts twice against the limit.
///
/// Only host memory whose arena is known, and that no peer can reach, is kept unused, least recently used first
/// to go. It is deregistered within seconds after its arena was closed, and before anything else is registered:
/// another arena's memory at the same address is never taken for it. All other is deregistered with its
/// last lease.
///
/// Threading: any thread; called when lanes open and close and when they have nothing to do, never on the
/// data path.
final class RegistrationCache implements AutoCloseable {
    static final int IDLE_MAX = 16;
    static final long IDLE_BYTES_MAX = 1L << 30;
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

    /// @param scope of the memory; null where it may not be kept unused
    private record What(long address, long bytes, int access, int dmaBuf, MemorySegment.@Nullable Scope scope) {
        // Other lanes of the memory's owner may use a part, and less than was asked for.
        boolean covers(final What other) {
            final long offset = other.address - address;
            return offset >= 0
                    && other.bytes <= bytes - offset
                    && (access & other.access) == other.access
                    && dmaBuf == other.dmaBuf
                    && (scope == null ? other.scope == null : scope.equals(other.scope));
        }

        // A region that peers may reach closes with its last lease: its memory may have another owner next, and the
        // peers know its key.
        boolean mayIdle() {
            return scope != null && scope.isAlive() && (access & PEERS) == 0;
        }
    }

    private static final class Entry {
        private final What what;
        private final MemoryRegion region;
        private int users;

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

    /// Host memory as it is; device memory by dma-buf, else, where it has none or this device takes none, by a
    /// driver of its device that knows its addresses (nvidia-peermem).
    Lease lease(final DeviceRegion memory, final int access) {
        if (memory.dmaBufDescriptor() == DeviceRegion.NO_DMA_BUF && memory.hostAddressable()) {
            return lease(memory.host().asSlice(0, memory.bytes()), access);
        }
        return lease(new What(memory.address(), memory.bytes(), access, memory.dmaBufDescriptor(), null));
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
            return use(new Entry(what, register(what)));
        }
    }

    private Lease use(final Entry entry) {
        entry.users++;
        entries.add(entry);
        return new Lease(entry);
    }

    private MemoryRegion register(final What what) {
        if (what.dmaBuf == DeviceRegion.NO_DMA_BUF) {
            return domain.register(what.address, what.bytes, what.access);
        }
        try {
            return domain.registerDmaBuf(what.dmaBuf, 0, what.address, what.bytes, what.access);
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

    // Unused ones beyond the limits, and those of memory that is gone, whose pages would stay pinned.
    private void trim() {
        int idle = 0;
        long idleBytes = 0;
        for (int i = entries.size() - 1; i >= 0; i--) {
            final Entry entry = entries.get(i);
            if (entry.users > 0) {
                continue;
            }
            idle++;
            idleBytes += entry.what.bytes;
            if (!entry.what.mayIdle() || idle > IDLE_MAX || idleBytes > IDLE_BYTES_MAX) {
                entries.remove(i);
                idle--;
                idleBytes -= entry.what.bytes;
                entry.region.close();
            }
        }
    }

    /// Looks once a second for memory whose arena was closed, which would stay pinned, and has a thread of its own
    /// deregister it: to unpin much takes milliseconds. Never waits for the lock.
    void look() {
        final long nowNs = System.nanoTime();
        if (nowNs - lookedNs < LOOK_NS || !lock.tryLock()) {
            return;
        }
        try {
            lookedNs = nowNs;
            if (isAnyGone()) {
                Thread.ofPlatform().daemon().name("framecast-verbs-regions").start(this::sweep);
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean isAnyGone() {
        for (int i = 0; i < entries.size(); i++) {
            final Entry entry = entries.get(i);
            if (entry.users == 0 && !entry.what.mayIdle()) {
                return true;
            }
        }
        return false;
    }

    private void sweep() {
        try (ScopedLock.Scope _ = lock.hold()) {
            trim();
        } catch (final NativeException _) {
            // It stays open, and its domain says so when that is closed.
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
