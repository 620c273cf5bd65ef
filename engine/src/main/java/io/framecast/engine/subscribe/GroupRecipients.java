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

    /// Reports to the source how many members the receiver stands for, and the strongest of their policies.
    @Override
    public void onCycle(final ReceiverMachine machine, final long nowNs) {
        if (machine.state() != ReceiverMachine.State.RECEIVING || !haveAllCome()) {
            return;
        }
        // A member that must miss nothing looks whether the source waits after the leader counted the member. So the
        // source hears that it need not wait only while no member was counted that might have seen it wait.
        if (!frames.strongest().isWaitedFor()) {
            frames.askToWait(false);
        }
        final Delivery strongest = frames.strongest();
        if (strongest.isWaitedFor()) {
            frames.askToWait(true);
        }
        machine.standFor(frames.readers(), strongest, nowNs);
        if (machine.isWaitedFor()) {
            frames.onWaitedFor();
        }
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
