package io.framecast.rdma;

import io.framecast.api.error.TransportException;
import io.framecast.rdma.verbs.AddressHandle;
import io.framecast.rdma.verbs.AddressPath;
import io.framecast.rdma.verbs.Gid;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Address handles to the peers of a channel, shared by all of its lanes; a device has few. Owns the port.
///
/// To make one the kernel may have to find a neighbour, which takes seconds where nobody answers, and anybody
/// can ask to join with an address that nobody has. So handles are made by threads of their own, a few at a
/// time, which end when there is nothing to make; whoever needs one does without until it is there.
///
/// Threading: any thread.
final class RdmaWays implements AutoCloseable {
    private static final int MAKERS_MAX = 8;

    /// A neighbour that is known takes far less. Waited for only while no other way is being made, so that
    /// many bad addresses cost no more than one.
    private static final long PATIENCE_NS = 2_000_000;

    private static final long RETRY_NS = 1_000_000_000;

    private final RdmaPort port;
    private final AddressPath.Hops hops;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition made = lock.newCondition();
    private final Map<Destination, Way> ways = new HashMap<>();
    private final Deque<Way> wanted = new ArrayDeque<>();
    private int makers;
    private boolean closed;

    /// A port.
    ///
    /// @param lid on InfiniBand, else 0
    private record Destination(Gid gid, int lid) {}

    /// An address handle, made or not yet.
    static final class Way {
        private final Destination destination;
        private volatile @Nullable AddressHandle handle;
        /// From where the own address stood before; what was posted may still need them.
        private final List<AddressHandle> former = new ArrayList<>();

        private volatile @Nullable String failure;
        private volatile long failedNs;
        private boolean sought;
        private int users = 1;

        private Way(final Destination destination) {
            this.destination = destination;
        }

        /// A way that was made elsewhere.
        static Way of(final AddressHandle handle) {
            final Way way = new Way(
                    new Destination(handle.path().destination(), handle.path().lid()));
            way.handle = handle;
            return way;
        }

        /// Null until it is made.
        @Nullable
        AddressHandle handle() {
            return handle;
        }

        /// To another handle that was made elsewhere.
        void replace(final AddressHandle other) {
            handle = other;
        }

        /// Whether it could not be made when it was last sought.
        boolean isFailed() {
            return failure != null;
        }
    }

    RdmaWays(final RdmaPort port, final AddressPath.Hops hops) {
        this.port = port;
        this.hops = hops;
    }

    private AddressPath path(final Destination destination) {
        return path(destination.gid, destination.lid);
    }

    /// @param lid of the port on InfiniBand, else 0
    /// @throws TransportException when the port has lost its address
    AddressPath path(final Gid gid, final int lid) {
        return new AddressPath(port.gid().port(), port.gidIndex(), gid, lid, hops);
    }

    /// A way to a port, to be given back.
    ///
    /// @throws TransportException when it is known at once that there is none
    Way take(final RdmaAddress peer) {
        final Destination destination = new Destination(peer.gid(), peer.lid());
        lock.lock();
        try {
            if (closed) {
                throw new IllegalStateException("verbs: the transport is closed");
            }
            final Way known = ways.get(destination);
            if (known != null) {
                known.users++;
                return known;
            }
            final Way way = new Way(destination);
            ways.put(destination, way);
            seek(way);
            if (makers == 1 && wanted.size() == 1) {
                await(way);
            }
            final String failure = way.failure;
            if (failure != null) {
                // Another lane may have taken it meanwhile, and have it sought again.
                way.users--;
                throw new TransportException(failure);
            }
            return way;
        } finally {
            lock.unlock();
        }
    }

    private void seek(final Way way) {
        way.sought = true;
        wanted.add(way);
        if (makers < MAKERS_MAX) {
            makers++;
            Thread.ofPlatform().daemon().name("framecast-verbs-ways").start(this::make);
        }
    }

    /// Has a way be sought once more that could not be made a while ago: a neighbour may have been away.
    void seekAgain(final Way way) {
        if (System.nanoTime() - way.failedNs < RETRY_NS) {
            return;
        }
        lock.lock();
        try {
            if (!way.sought && !closed && way.handle == null) {
                seek(way);
            }
        } finally {
            lock.unlock();
        }
    }

    /// Has a way made anew if it leaves from where the own address does not stand any more; until it is there, it is as
    /// one that is being made.
    ///
    /// @param index where the own address stands
    void renew(final Way way, final int index) {
        lock.lock();
        try {
            final AddressHandle handle = way.handle;
            if (handle != null && handle.path().sourceGid() != index) {
                way.former.add(handle);
                way.handle = null;
                way.failure = null;
                seek(way);
            }
        } finally {
            lock.unlock();
        }
    }

    private void await(final Way way) {
        long leftNs = PATIENCE_NS;
        try {
            while (leftNs > 0 && way.handle == null && way.failure == null) {
                leftNs = made.awaitNanos(leftNs);
            }
        } catch (final InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    // A maker's whole life.
    private void make() {
        Way way = next(null, null, null);
        while (way != null) {
            AddressHandle handle = null;
            String failure = null;
            try {
                handle = port.domain().addressHandle(path(way.destination));
            } catch (final TransportException | IllegalStateException e) {
                failure = e.getMessage();
            }
            way = next(way, handle, failure);
        }
    }

    /// Tells of the way that was made, if any, and finds the next; a maker that gets none ends.
    private @Nullable Way next(
            final @Nullable Way done, final @Nullable AddressHandle handle, final @Nullable String failure) {
        lock.lock();
        try {
            if (done != null) {
                settle(done, handle, failure);
            }
            final Way next = wanted.poll();
            if (next == null) {
                makers--;
                closeAtLast();
            }
            return next;
        } finally {
            lock.unlock();
        }
    }

    private void settle(final Way way, final @Nullable AddressHandle handle, final @Nullable String failure) {
        way.sought = false;
        if (handle == null) {
            way.failedNs = System.nanoTime();
            way.failure = failure;
            // The next who asks for it tries again.
            ways.remove(way.destination, way);
        } else if (way.users == 0) {
            handle.close();
        } else {
            way.handle = handle;
        }
        made.signalAll();
    }

    /// Takes a way back that nothing posted needs any more.
    void giveBack(final Way way) {
        lock.lock();
        try {
            way.users--;
            if (way.users > 0) {
                return;
            }
            ways.remove(way.destination, way);
            wanted.remove(way);
            way.former.forEach(AddressHandle::close);
            way.former.clear();
            final AddressHandle handle = way.handle;
            if (handle != null) {
                handle.close();
            }
        } finally {
            lock.unlock();
        }
    }

    /// Closes the port once the last way that is being made is there. All ways were given back.
    @Override
    public void close() {
        lock.lock();
        try {
            if (!closed) {
                closed = true;
                closeAtLast();
            }
        } finally {
            lock.unlock();
        }
    }

    private void closeAtLast() {
        if (closed && makers == 0) {
            port.close();
        }
    }
}
