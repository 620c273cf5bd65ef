package io.framecast.rdma;

import io.framecast.api.error.TransportException;
import io.framecast.api.provider.ScopedLock;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.rdma.verbs.AsyncEvent;
import io.framecast.rdma.verbs.CompletionQueue;
import io.framecast.rdma.verbs.QueuePair;
import io.framecast.rdma.verbs.QueuePairConfig;
import io.framecast.rdma.verbs.RcPeer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// An RC queue pair. One that acts has a send queue with everything that goes with it; one that only accepts
/// posts nothing at all: its device serves the peer.
///
/// Threading: the owner's thread, but for making and connecting, which a worker does. Where the owner closes
/// meanwhile, the worker releases its objects.
final class RcEndpoint implements OneSidedEndpoint {
    private static final int PSN_MASK = 0xFFFFFF;
    private static final byte[] NOT_YET = {};

    private final VerbsOneSided owner;
    private final Consumer<RcEndpoint> onReleased;
    private final int operationsMax;
    private final int allowed;
    private final ScopedLock lock = new ScopedLock();
    private volatile State state = State.IDLE;
    private volatile String failure = "";
    private volatile byte[] descriptor = NOT_YET;
    private @Nullable RcDescriptor own;
    private @Nullable CompletionQueue completions;
    private @Nullable QueuePair queuePair;
    private @Nullable RcOperations operations;
    // A worker has it.
    private boolean busy;
    // A worker makes its queue pair ready to receive.
    private boolean connecting;
    private boolean closed;
    private boolean released;

    /// @param operationsMax of one that acts; 0 for one that only accepts
    /// @param allowed to the peer: flags of [io.framecast.rdma.verbs.Access]
    /// @param onReleased called once, when the endpoint holds no resource any more
    RcEndpoint(
            final VerbsOneSided owner,
            final int operationsMax,
            final int allowed,
            final Consumer<RcEndpoint> onReleased) {
        this.allowed = allowed;
        this.owner = owner;
        this.operationsMax = operationsMax;
        this.onReleased = onReleased;
    }

    /// Makes the queue pair of one that is opened. Where the transport closes meanwhile, it is broken at once.
    ///
    /// @throws TransportException when it was closed before that began
    void make() {
        begin();
        boolean made = false;
        try {
            makeQueuePair();
            descriptor = described().toBytes();
            made = true;
        } finally {
            try (ScopedLock.Scope _ = lock.hold()) {
                busy = false;
                closed |= !made;
                release();
            }
        }
    }

    // From here on a closing thread leaves it to this thread to release its objects.
    private void begin() {
        try (ScopedLock.Scope _ = lock.hold()) {
            if (closed) {
                throw new TransportException("verbs: the transport is closed; open another");
            }
            busy = true;
        }
    }

    private RcDescriptor described() {
        final RcDescriptor made = own;
        if (made == null) {
            throw new IllegalStateException("endpoint: not made yet");
        }
        return made;
    }

    private void makeQueuePair() {
        final RdmaPort port = owner.port();
        final int sends = Math.max(1, operationsMax);
        final CompletionQueue made = port.context().completionQueue(sends + 1, null);
        completions = made;
        final QueuePair pair = port.domain()
                .queuePair(new QueuePairConfig(
                        QueuePairConfig.Service.RC, made, new QueuePairConfig.Limits(sends, 1, 1, 1, 0)));
        queuePair = pair;
        pair.initialize(port.gid().port(), 0, allowed);
        own = new RcDescriptor(
                port.gid().gid(),
                port.lid(),
                pair.number(),
                owner.nextPsn() & PSN_MASK,
                RcDescriptor.mtuBytes(port.datagramBytesMax()));
        if (operationsMax > 0) {
            operations = new RcOperations(operationsMax, made, pair, this::breakWith);
        }
    }

    @Override
    public byte[] descriptor() {
        return descriptor;
    }

    @Override
    public void connect(final byte[] peer) {
        final RcDescriptor wanted = RcDescriptor.decode(peer, owner.ownEnd());
        try (ScopedLock.Scope _ = lock.hold()) {
            if (closed || state != State.IDLE) {
                throw new IllegalStateException("endpoint: expected one that is IDLE, got " + state);
            }
            state = State.CONNECTING;
            busy = true;
        }
        owner.workers().execute(() -> establish(wanted));
    }

    // By a worker.
    private void establish(final RcDescriptor peer) {
        String refusal = "";
        try {
            // A hostile peer can have many wait here, and leave.
            if (!isClosed()) {
                join(peer);
            }
        } catch (final RuntimeException e) {
            // Every failure is reported here: else the endpoint would stay in CONNECTING and hold its resources.
            refusal = String.valueOf(e.getMessage());
        }
        try (ScopedLock.Scope _ = lock.hold()) {
            busy = false;
            connecting = false;
            if (!refusal.isEmpty()) {
                breakWith(refusal);
            } else if (!closed && state == State.CONNECTING) {
                descriptor = described().toBytes();
                state = State.UP;
            }
            release();
        }
    }

    private void join(final RcDescriptor peer) {
        if (queuePair == null) {
            makeQueuePair();
        }
        final QueuePair pair = queuePair;
        final RcDescriptor mine = described();
        if (pair != null && mayConnect()) {
            pair.connect(new RcPeer(
                    owner.path(peer),
                    peer.queuePair(),
                    peer.psn(),
                    mine.psn(),
                    mine.pathMtuBytes(peer),
                    RcPeer.Patience.DEFAULT));
        }
    }

    private boolean isClosed() {
        try (ScopedLock.Scope _ = lock.hold()) {
            return closed;
        }
    }

    // From here on a closing thread fails the queue pair, which is initialized and so can fail.
    private boolean mayConnect() {
        try (ScopedLock.Scope _ = lock.hold()) {
            connecting = !closed;
            return connecting;
        }
    }

    /// A queue pair failed by itself. If it is this one, no request under way may show it.
    void onFailed(final AsyncEvent event) {
        try (ScopedLock.Scope _ = lock.hold()) {
            final QueuePair pair = queuePair;
            if (!released && pair != null && event.isOf(pair)) {
                breakWith("its queue pair failed (" + event.kind() + ")");
            }
        }
    }

    private void breakWith(final String reason) {
        if (state != State.BROKEN) {
            failure = reason;
            state = State.BROKEN;
        }
    }

    @Override
    public State state() {
        return state;
    }

    @Override
    public String failure() {
        return failure;
    }

    @Override
    public int room() {
        final RcOperations current = operations;
        return current == null || state != State.UP ? 0 : current.room();
    }

    private @Nullable RcOperations withRoom() {
        return room() == 0 ? null : operations;
    }

    @Override
    public boolean write64(final long address, final int key, final long value, final long token) {
        if (token < 0 || (address & 7) != 0) {
            throw new IllegalArgumentException("write64: expected a token ≥ 0 and an aligned address, got " + token);
        }
        final RcOperations current = withRoom();
        return current != null && current.write64(address, key, value, token);
    }

    @Override
    public boolean read(final Range target, final long address, final int key, final long token) {
        final RcOperations current = withRoom();
        return current != null && current.read(target, address, key, token);
    }

    @Override
    public boolean write(final Range source, final long address, final int key, final long token) {
        final RcOperations current = withRoom();
        return current != null && current.write(source, address, key, token);
    }

    @Override
    public int poll(final long[] tokens) {
        final RcOperations current = operations;
        return current == null || state != State.UP ? 0 : current.poll(tokens);
    }

    /// When this returns nothing of the peer's gets in any more: the queue pair is in error, or will never be
    /// connected. Where a worker has it, that worker releases it later. A device that refuses even this is
    /// gone.
    @Override
    public void close() {
        try (ScopedLock.Scope _ = lock.hold()) {
            if (closed) {
                return;
            }
            closed = true;
            breakWith("closed");
            final QueuePair pair = queuePair;
            if (connecting && pair != null) {
                // A queue pair in error cannot become ready to receive: the device refuses the worker's request.
                owner.quietly(pair::fail);
            }
            if (!busy) {
                release();
            }
        }
    }

    // Once closed, and no worker has it. An object that the device refuses to release stays.
    private void release() {
        if (!closed || busy || released) {
            return;
        }
        released = true;
        final QueuePair pair = queuePair;
        if (pair != null) {
            owner.quietly(pair::fail);
            owner.quietly(pair::close);
        }
        final CompletionQueue queue = completions;
        if (queue != null) {
            owner.quietly(queue::close);
        }
        final RcOperations current = operations;
        if (current != null) {
            owner.quietly(current::close);
        }
        onReleased.accept(this);
    }
}
