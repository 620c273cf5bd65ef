package io.framecast.reliability.onesided;

import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.onesided.EndpointPort.State;
import io.framecast.reliability.receive.RemoteMemory;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.StreamInfo;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// A receiver's endpoint to one peer, whose window it reads: the source, in whose memory it also writes its
/// credit, or a co-root with its replica of the window.
///
/// Threading: the session's thread. Ownership: owns its endpoint.
final class PeerWindow {
    private static final long CREDIT_TOKEN = ReadSlots.SLOTS;

    private final EndpointPort endpoint;
    private final @Nullable ReadBuffers buffers;
    private final StreamInfo stream;
    private final BooleanSupplier guarded;
    private final Listener listener;
    private final Counts<ReadCount> counts;
    private final long[] tokens = new long[ReadSlots.SLOTS];
    private @Nullable EndpointOffer offer;
    private @Nullable WindowReads reads;
    private State seen = State.IDLE;
    private boolean writing;
    private boolean closed;

    /// Gets the events of the endpoint and its operations.
    interface Listener {
        void onUp(long nowNs);

        /// The credit written last is in the peer's memory.
        void onWritten(long nowNs);

        /// The endpoint failed and is closed.
        void onBroken(String failure, long nowNs);

        /// A read did not bring this sequence.
        void onStale(long sequence, long nowNs);
    }

    /// @param buffers where reads land, the caller's; null for an endpoint that writes credit only
    /// @param guarded whether the peer may fill or reuse slots while they are read
    PeerWindow(
            final EndpointPort endpoint,
            final @Nullable ReadBuffers buffers,
            final StreamInfo stream,
            final BooleanSupplier guarded,
            final Listener listener,
            final Counts<ReadCount> counts) {
        this.endpoint = endpoint;
        this.buffers = buffers;
        this.stream = stream;
        this.guarded = guarded;
        this.listener = listener;
        this.counts = counts;
    }

    /// The values that the peer needs; empty while the endpoint is being made.
    byte[] descriptor() {
        return endpoint.descriptor();
    }

    /// Begins to connect to the peer's endpoint; all of the offer is from the wire.
    ///
    /// @return whether it is a descriptor of this transport; else [#failure] gives the reason
    boolean connect(final EndpointOffer peer) {
        if (!endpoint.connect(peer.descriptor())) {
            return false;
        }
        offer = peer;
        reads = buffers == null ? null : new WindowReads(endpoint, buffers, stream, peer, guarded, counts);
        seen = State.CONNECTING;
        return true;
    }

    String failure() {
        return endpoint.failure();
    }

    /// Writes this receiver's credit into the peer's memory; one write at a time.
    boolean write(final long credit) {
        final EndpointOffer peer = offer;
        if (peer == null || writing) {
            return false;
        }
        writing = endpoint.write64(peer.word().address(), peer.word().key(), credit, CREDIT_TOKEN);
        return writing;
    }

    /// As [WindowReads#read].
    int read(final long firstSequence, final int count, final long nowNs) {
        final WindowReads current = reads;
        return current == null ? RemoteMemory.NOT_READ : current.read(firstSequence, count, nowNs);
    }

    /// Whether an operation is in flight, whose end no descriptor shows.
    boolean isBusy() {
        final WindowReads current = reads;
        return !closed && (writing || seen == State.CONNECTING || (current != null && current.isBusy()));
    }

    /// Notifies the listener of operations that ended.
    ///
    /// @param slowNs a read that takes longer is slow
    /// @return work done
    int poll(final long slowNs, final long nowNs) {
        if (closed) {
            return 0;
        }
        if (seen == State.CONNECTING && endpoint.state() == State.UP) {
            seen = State.UP;
            listener.onUp(nowNs);
        }
        final WindowReads current = reads;
        if (current != null) {
            current.slowAfter(slowNs);
        }
        final int count = endpoint.poll(tokens);
        for (int i = 0; i < count; i++) {
            if (tokens[i] == CREDIT_TOKEN) {
                writing = false;
                listener.onWritten(nowNs);
            } else if (current != null) {
                final long stale = current.end((int) tokens[i]);
                if (stale != WindowReads.ARRIVED) {
                    listener.onStale(stale, nowNs);
                }
            }
        }
        if (endpoint.state() == State.BROKEN) {
            final String failure = endpoint.failure();
            close();
            listener.onBroken(failure, nowNs);
        }
        return count;
    }

    /// Neither side acts any more when this returns. Idempotent.
    void close() {
        if (closed) {
            return;
        }
        closed = true;
        // Until the endpoint is closed a read may still land.
        endpoint.close();
        if (reads != null) {
            reads.abandon();
        }
    }
}
