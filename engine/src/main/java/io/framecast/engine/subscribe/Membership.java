package io.framecast.engine.subscribe;

import io.framecast.engine.memory.MirroredMemory;
import io.framecast.engine.sink.ReceiveMemory;
import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.membership.Progress;
import io.framecast.reliability.membership.SourceMembership;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.wire.Delivery;
import java.util.concurrent.Executor;

/// A membership in a source's session, from before its session is opened: which memory it wants, who takes
/// its frames, and how it begins. By default it begins with a JOIN.
///
/// Threading: the receiver's thread makes it, and calls [#start], [#awaitsFollowers] and [#isPending]. The conductor
/// calls all else while it opens the session, and [#close] then.
interface Membership extends AutoCloseable {
    /// The way of payloads to their places in host memory, over a transport that fills slots in order of
    /// arrival.
    MemoryShape.Kind kindByArrival();

    /// Whether the source may send datagrams without credit, now or later.
    ///
    /// @param own the subscriber's policy
    boolean mayExceedCredit(Delivery own);

    /// Allocates a ring in host memory.
    MirroredMemory ring(long bytes);

    /// The random number by which the source lets the membership move to a successor.
    long secret();

    /// The policy that the source knows, or will.
    ///
    /// @param own the subscriber's policy
    default Delivery policy(final Delivery own) {
        return own;
    }

    /// Opens the way of whole frames to their users, before the first frame.
    ///
    /// @param queue the session's
    /// @param memory of this shape
    /// @param policy of [#policy]
    /// @return the caller closes it
    FrameRecipients recipients(
            SessionQueue queue,
            MemoryShape shape,
            ReceiveMemory memory,
            Assembly assembly,
            ReceiverMachine machine,
            Delivery policy);

    /// The session is open.
    ///
    /// @param memory the session's, which a task of this conductor frees
    default void onOpened(final ReceiveMemory memory, final Executor conductor) {
        // Everything is there.
    }

    /// The state of its life in the subscription.
    ///
    /// @param progress of the session's protocol
    default SourceMembership begin(final long session, final Progress progress) {
        return SourceMembership.joining(session, progress);
    }

    /// Begins the handshake with the source, which can hear this receiver now.
    default void start(final ReceiverMachine machine, final long nowNs) {
        machine.start(nowNs);
    }

    /// In each cycle, before the protocol's work: whether that is to wait for members of the host group.
    ///
    /// @param waitedNs time since [#start], without standstills of this process
    default boolean awaitsFollowers(
            final ReceiverMachine machine, final FrameRecipients recipients, final long waitedNs, final long nowNs) {
        return false;
    }

    /// Whether it was started and still waits for members of the host group.
    default boolean isPending() {
        return false;
    }

    /// The session was opened, or will not be.
    @Override
    default void close() {
        // It holds nothing.
    }

    /// The membership of a subscriber that shares its frames with nobody.
    record Own(long secret) implements Membership {
        @Override
        public MemoryShape.Kind kindByArrival() {
            return MemoryShape.Kind.BY_ARRIVAL;
        }

        @Override
        public boolean mayExceedCredit(final Delivery own) {
            return !own.isWaitedFor();
        }

        @Override
        public MirroredMemory ring(final long bytes) {
            return MirroredMemory.allocate(bytes, 0);
        }

        @Override
        public FrameRecipients recipients(
                final SessionQueue queue,
                final MemoryShape shape,
                final ReceiveMemory memory,
                final Assembly assembly,
                final ReceiverMachine machine,
                final Delivery policy) {
            return new FrameRecipients.OwnSubscriber(queue, policy);
        }
    }
}
