package io.framecast.rdma;

import io.framecast.api.error.TransportException;
import io.framecast.api.provider.ScopedLock;
import io.framecast.rdma.verbs.AddressHandle;
import io.framecast.rdma.verbs.AddressPath;
import io.framecast.rdma.verbs.Gid;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/// Address handles to the peers of a channel, shared by all of its lanes; a device has few. Owns the port.
///
/// The kernel may have to find a neighbour before it makes a handle, which takes seconds where no host answers, and
/// an attacker can ask to join with an unused address. So at most eight threads of the cache's own make handles.
/// They end when there is nothing to make; a lane sends nothing to a peer until the peer's handle is made.
///
/// Threading: any thread.
final class AddressHandleCache implements AutoCloseable {
    private static final int MAKERS_MAX = 8;

    /// The kernel answers for a known neighbour in far less. A lane waits only while the cache makes no other
    /// handle, so that many bad addresses cost no more than one.
    private static final long PATIENCE_NS = 2_000_000;

    private static final long RETRY_NS = 1_000_000_000;

    private final RdmaPort port;
    private final AddressPath.Hops hops;
    private final ScopedLock lock = new ScopedLock();
    private final Condition made = lock.newCondition();
    private final Map<Destination, Entry> entries = new HashMap<>();
    private final Executor makers = OnDemandThreads.executor("framecast-verbs-handles", MAKERS_MAX);
    // Handles asked for and not settled.
    private int making;
    private boolean closed;

    /// A port.
    ///
    /// @param lid on InfiniBand, else 0
    private record Destination(Gid gid, int lid) {}

    /// An address handle, made or not yet.
    static final class Entry {
        private final Destination destination;
        private volatile @Nullable AddressHandle handle;
        /// Handles with a former index of the own address; posted sends may still need them.
        private final List<AddressHandle> former = new ArrayList<>();

        private volatile @Nullable String failure;
        private volatile long failedNs;
        private boolean sought;
        private int users = 1;

        private Entry(final Destination destination) {
            this.destination = destination;
        }

        /// The entry of a handle that was made elsewhere.
        static Entry of(final AddressHandle handle) {
            final Entry entry = new Entry(
                    new Destination(handle.path().destination(), handle.path().lid()));
            entry.handle = handle;
            return entry;
        }

        /// Null until it is made.
        @Nullable
        AddressHandle handle() {
            return handle;
        }

        /// Takes another handle that was made elsewhere.
        void replace(final AddressHandle other) {
            handle = other;
        }

        /// Whether the last attempt to make it failed.
        boolean isFailed() {
            return failure != null;
        }
    }

    AddressHandleCache(final RdmaPort port, final AddressPath.Hops hops) {
        this.port = port;
        this.hops = hops;
    }

    /// @param lid of the port on InfiniBand, else 0
    /// @throws TransportException when the port has lost its address
    AddressPath path(final Gid gid, final int lid) {
        return new AddressPath(port.gid().port(), port.gidIndex(), gid, lid, hops);
    }

    /// The handle of a port, for one more user, which must give it back.
    ///
    /// @throws TransportException when the kernel refuses it at once
    Entry take(final RdmaAddress peer) {
        final Destination destination = new Destination(peer.gid(), peer.lid());
        try (ScopedLock.Scope _ = lock.hold()) {
            if (closed) {
                throw new IllegalStateException("verbs: the transport is closed");
            }
            final Entry known = entries.get(destination);
            if (known != null) {
                known.users++;
                return known;
            }
            final Entry entry = new Entry(destination);
            entries.put(destination, entry);
            seek(entry);
            if (making == 1) {
                await(entry);
            }
            final String failure = entry.failure;
            if (failure != null) {
                // Another lane may have taken it meanwhile, and have it sought again.
                entry.users--;
                throw new TransportException(failure);
            }
            return entry;
        }
    }

    private void seek(final Entry entry) {
        entry.sought = true;
        making++;
        makers.execute(() -> make(entry));
    }

    /// Has a handle made that failed a while ago: a neighbour may have been away.
    void seekAgain(final Entry entry) {
        if (System.nanoTime() - entry.failedNs < RETRY_NS) {
            return;
        }
        try (ScopedLock.Scope _ = lock.hold()) {
            if (!entry.sought && !closed && entry.handle == null) {
                seek(entry);
            }
        }
    }

    /// Has a handle made anew if its source index is not the own address's any more; until then the entry
    /// has none.
    ///
    /// @param index where the own address stands
    void renew(final Entry entry, final int index) {
        try (ScopedLock.Scope _ = lock.hold()) {
            final AddressHandle handle = entry.handle;
            if (handle != null && handle.path().sourceGid() != index) {
                entry.former.add(handle);
                entry.handle = null;
                entry.failure = null;
                seek(entry);
            }
        }
    }

    private void await(final Entry entry) {
        long leftNs = PATIENCE_NS;
        try {
            while (leftNs > 0 && entry.handle == null && entry.failure == null) {
                leftNs = made.awaitNanos(leftNs);
            }
        } catch (final InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    // By a maker.
    private void make(final Entry entry) {
        AddressHandle handle = null;
        String failure = "no lane needs it any more";
        try {
            if (isUsed(entry)) {
                handle = port.domain().addressHandle(path(entry.destination.gid, entry.destination.lid));
            }
        } catch (final TransportException | IllegalStateException e) {
            failure = e.getMessage();
        }
        try (ScopedLock.Scope _ = lock.hold()) {
            making--;
            settle(entry, handle, failure);
            closeAtLast();
        }
    }

    private boolean isUsed(final Entry entry) {
        try (ScopedLock.Scope _ = lock.hold()) {
            return entry.users > 0;
        }
    }

    private void settle(final Entry entry, final @Nullable AddressHandle handle, final @Nullable String failure) {
        entry.sought = false;
        if (handle == null) {
            entry.failedNs = System.nanoTime();
            entry.failure = failure;
            // The next call for this destination tries again.
            entries.remove(entry.destination, entry);
        } else if (entry.users == 0) {
            handle.close();
        } else {
            entry.handle = handle;
        }
        made.signalAll();
    }

    /// Takes an entry back that no posted send needs any more.
    void giveBack(final Entry entry) {
        try (ScopedLock.Scope _ = lock.hold()) {
            entry.users--;
            if (entry.users > 0) {
                return;
            }
            entries.remove(entry.destination, entry);
            entry.former.forEach(AddressHandle::close);
            entry.former.clear();
            final AddressHandle handle = entry.handle;
            if (handle != null) {
                handle.close();
            }
        }
    }

    /// Closes the port once no handle is being made. All entries were given back.
    @Override
    public void close() {
        try (ScopedLock.Scope _ = lock.hold()) {
            if (!closed) {
                closed = true;
                closeAtLast();
            }
        }
    }

    private void closeAtLast() {
        if (closed && making == 0) {
            port.close();
        }
    }
}
