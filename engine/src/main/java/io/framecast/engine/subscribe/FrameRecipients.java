package io.framecast.engine.subscribe;

import io.framecast.reliability.flow.ClockOffset;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.session.FrameConsumer;
import io.framecast.reliability.wire.Delivery;

/// The recipients of a session's whole frames: the subscriber that polls the session's queue, or the members
/// of a host group, which read the table that their leader shares.
///
/// Threading: the conductor makes it, and closes it once no frame is held; the receiver's thread calls all
/// else.
interface FrameRecipients extends AutoCloseable {
    /// Takes the session's frames and losses.
    FrameConsumer consumer();

    /// Whether each member that followed an earlier leader has what this session shares.
    boolean haveAllCome();

    /// The policy by which the session itself drops whole frames.
    Delivery dropPolicy();

    /// A heartbeat came: the source's clock may be known better.
    void onClock(ClockOffset clock, long nowNs);

    /// After each of the protocol's cycles.
    void onCycle(ReceiverMachine machine, long nowNs);

    /// The source counts the receiver as a member.
    ///
    /// @param firstFrameId the first frame that it gets
    void onJoined(long firstFrameId);

    /// Nothing follows.
    ///
    /// @param ended whether the stream ended; else the source was lost
    void onOver(boolean ended);

    /// This receiver leaves: ends its membership at the source, unless one of them goes on with it.
    void endMembership(Runnable end);

    /// The session writes no more. Frames that were delivered stay readable.
    void abandon();

    @Override
    void close();

    /// The session's own subscriber.
    ///
    /// @param consumer the session's queue, which the session closes
    /// @param dropPolicy the subscriber's
    record OwnSubscriber(SessionQueue consumer, Delivery dropPolicy) implements FrameRecipients {
        @Override
        public boolean haveAllCome() {
            return true;
        }

        @Override
        public void onClock(final ClockOffset clock, final long nowNs) {
            // The queue has a clock of its own.
        }

        @Override
        public void onCycle(final ReceiverMachine machine, final long nowNs) {
            // The receiver stands for its subscriber alone, under the policy of its JOIN.
        }

        @Override
        public void onJoined(final long firstFrameId) {
            // The queue reports it as a source event.
        }

        @Override
        public void onOver(final boolean ended) {
            // As above.
        }

        @Override
        public void endMembership(final Runnable end) {
            end.run();
        }

        @Override
        public void abandon() {
            // The subscriber releases what it holds.
        }

        @Override
        public void close() {
            // The session closes the queue behind the memory.
        }
    }
}
