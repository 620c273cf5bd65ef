package io.framecast.engine.subscribe;

import io.framecast.engine.session.EpochClock;
import io.framecast.reliability.flow.ClockOffset;
import io.framecast.reliability.group.SharedFrames;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.session.FrameConsumer;
import io.framecast.reliability.wire.Delivery;

/// The members of a host group, which read the frame table of their leader's session.
///
/// @param frames the table, this object's from now on
record GroupRecipients(SharedFrames frames) implements FrameRecipients {
    @Override
    public FrameConsumer consumer() {
        return frames;
    }

    /// Members judge whole frames themselves.
    @Override
    public Delivery dropPolicy() {
        return Delivery.RELIABLE;
    }

    @Override
    public boolean haveAllCome() {
        return frames.handover() == SharedFrames.Handover.COMPLETE;
    }

    /// Members get the source's clock by the host's, which all processes of the host share.
    @Override
    public void onClock(final ClockOffset clock, final long nowNs) {
        final EpochClock own = EpochClock.ofProcess();
        final long boundNs = clock.boundNs(nowNs);
        frames.onClock(
                clock.offsetNs() + own.hostOffsetNs(),
                boundNs == ClockOffset.UNKNOWN ? boundNs : boundNs + own.errorNs());
    }

    @Override
    public void onCycle(final ReceiverMachine machine, final long nowNs) {
        frames.report(machine, nowNs);
    }

    @Override
    public void onJoined(final long firstFrameId) {
        frames.onJoined(firstFrameId);
    }

    @Override
    public void onOver(final boolean ended) {
        frames.onOver(ended);
    }

    @Override
    public void endMembership(final Runnable end) {
        frames.endMembership(end);
    }

    @Override
    public void abandon() {
        frames.abandon();
    }

    @Override
    public void close() {
        frames.close();
    }
}
