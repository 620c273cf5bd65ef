package io.framecast.rdma;

import io.framecast.api.error.TransportException;
import io.framecast.api.provider.ScopedLock;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.RegisteredMemory;
import io.framecast.rdma.verbs.AddressPath;
import io.framecast.rdma.verbs.AsyncEvent;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/// One-sided operations over RC queue pairs of a channel's port.
///
/// Queue pairs and regions share one domain, so a member that guesses the key of another's region reaches it,
/// within the rights of its own queue pair: keys protect from strangers, not from members. A peer that only reads
/// gets a queue pair that allows only reads, and the receiver checks written data.
///
/// Threading: any thread.
final class VerbsOneSided implements OneSided {
    private static final int CONNECTING_MAX = 4;

    private final VerbsLink link;
    private final Executor workers = OnDemandThreads.executor("framecast-verbs-connect", CONNECTING_MAX);
    // Packet sequence numbers must be unpredictable: RC takes any packet that has the right one.
    private final SecureRandom random = new SecureRandom();
    private final ScopedLock lock = new ScopedLock();
    private final Set<RcEndpoint> endpoints = new LinkedHashSet<>();
    private @Nullable Runnable last;
    private boolean closed;

    VerbsOneSided(final VerbsLink link) {
        this.link = link;
        link.events().onQueuePairFailed(this::onFailed);
    }

    RdmaPort port() {
        return link.port();
    }

    /// This port, for any queue pair.
    RdmaAddress ownEnd() {
        return new RdmaAddress(port().gid().gid(), port().lid(), 0, 0);
    }

    Executor workers() {
        return workers;
    }

    AddressPath path(final RcDescriptor peer) {
        return link.handles().path(peer.gid(), peer.lid());
    }

    int nextPsn() {
        return random.nextInt();
    }

    @Override
    public RegisteredMemory register(final MemorySegment memory, final Access access) {
        return new RcMemory(link.registrations().lease(memory, flags(access)), memory.address(), memory.byteSize());
    }

    @Override
    public RegisteredMemory register(final DeviceRegion memory, final Access access) {
        return new RcMemory(link.registrations().lease(memory, flags(access)), memory.address(), memory.bytes());
    }

    private static int flags(final Access access) {
        return switch (access) {
            case LOCAL -> io.framecast.rdma.verbs.Access.LOCAL_WRITE;
            case PEERS_READ -> io.framecast.rdma.verbs.Access.REMOTE_READ;
            case PEERS_WRITE ->
                io.framecast.rdma.verbs.Access.LOCAL_WRITE | io.framecast.rdma.verbs.Access.REMOTE_WRITE;
        };
    }

    private static int allowed(final Access peer) {
        return switch (peer) {
            case LOCAL -> io.framecast.rdma.verbs.Access.LOCAL_READ;
            case PEERS_READ -> io.framecast.rdma.verbs.Access.REMOTE_READ;
            case PEERS_WRITE ->
                io.framecast.rdma.verbs.Access.REMOTE_READ | io.framecast.rdma.verbs.Access.REMOTE_WRITE;
        };
    }

    @Override
    public OneSidedEndpoint open(final int operationsMax, final Access peer) {
        if (operationsMax <= 0) {
            throw new IllegalArgumentException("endpoint: expected operations > 0, got " + operationsMax);
        }
        final RcEndpoint endpoint = add(operationsMax, peer);
        endpoint.make();
        return endpoint;
    }

    @Override
    public OneSidedEndpoint accept(final byte[] descriptor, final Access peer, final int operationsMax) {
        RcDescriptor.decode(descriptor, ownEnd());
        final RcEndpoint endpoint = add(operationsMax, peer);
        endpoint.connect(descriptor);
        return endpoint;
    }

    @Override
    public boolean isAt(final LaneAddress peer, final byte[] descriptor) {
        final RcDescriptor endpoint = RcDescriptor.decode(descriptor, ownEnd());
        final RdmaAddress address = RdmaAddress.decode(peer);
        return endpoint.gid().equals(address.gid()) && endpoint.lid() == address.lid();
    }

    private RcEndpoint add(final int operationsMax, final Access peer) {
        try (ScopedLock.Scope _ = lock.hold()) {
            if (closed) {
                throw new TransportException("verbs: the transport is closed; open another");
            }
            final RcEndpoint endpoint = new RcEndpoint(this, operationsMax, allowed(peer), this::onReleased);
            endpoints.add(endpoint);
            return endpoint;
        }
    }

    // By a lane's thread.
    private void onFailed(final AsyncEvent event) {
        final List<RcEndpoint> open;
        try (ScopedLock.Scope _ = lock.hold()) {
            open = new ArrayList<>(endpoints);
        }
        open.forEach(endpoint -> endpoint.onFailed(event));
    }

    private void onReleased(final RcEndpoint endpoint) {
        try (ScopedLock.Scope _ = lock.hold()) {
            endpoints.remove(endpoint);
        }
        runLast();
    }

    // Once, when no endpoint is left after [#close].
    private void runLast() {
        final Runnable then;
        try (ScopedLock.Scope _ = lock.hold()) {
            then = endpoints.isEmpty() ? last : null;
            last = then == null ? last : null;
        }
        if (then != null) {
            then.run();
        }
    }

    /// Releases an object, where the device still can.
    void quietly(final Runnable release) {
        try {
            release.run();
        } catch (final TransportException | IllegalStateException _) {
            // A device that is gone refuses everything, so its objects stay until the process ends.
        }
    }

    /// Closes all endpoints; `then` runs when none holds anything any more: now, or after the last that a
    /// worker is connecting.
    void close(final Runnable then) {
        final List<RcEndpoint> open;
        try (ScopedLock.Scope _ = lock.hold()) {
            closed = true;
            last = then;
            open = new ArrayList<>(endpoints);
        }
        open.forEach(RcEndpoint::close);
        runLast();
    }
}
