package io.framecast.reliability.sim;

import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.send.SenderMachine;
import io.framecast.reliability.sim.record.SimFrames;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.LeaveLayout;
import io.framecast.reliability.wire.Verdict;
import java.util.BitSet;

/// Checks that both ends of a membership give each other up when they must, and not before; and that every gap is
/// reported.
final class LifeCheck {
    /// Margin behind the time at which one end must notice the other's silence.
    static final long MARGIN_NS = 25_000_000;

    /// A gap that stays open this long, and a round trip, must have been reported.
    private static final long GAP_REPORT_MAX_NS = 100_000_000;

    private final SimReception reception;
    private final SimReceiver process;
    private final ReceiverMachine machine;
    private State lastState = State.JOINING;
    // By the receiver's clock, and by the true one.
    private long heardNs;
    private long noticedTrueNs;
    private long gapSequence = -1;
    private long gapSinceNs;
    private long rttNs;
    // By sequence − start: all sequences in any NACK.
    private final BitSet reported = new BitSet();
    // By the source's clock, and by the true one.
    private long sourceHeardNs;
    private long sourceNoticedTrueNs;
    private boolean dismissed;
    // The source refused its join. A later one under the same identity may still be admitted.
    private boolean refused;
    private boolean proven;
    private boolean complete;

    LifeCheck(final SimReception reception, final SimReceiver process, final ReceiverMachine machine) {
        this.reception = reception;
        this.process = process;
        this.machine = machine;
    }

    /// Whether the source took a member's datagram for a sign of life, though it did not accept it.
    static boolean isSign(final Verdict verdict, final int type) {
        return switch (verdict) {
            case IMPOSSIBLE, LIMITED, EARLY, STALE_EPOCH -> true;
            // A member that is no co-root any more, or not active yet.
            case UNKNOWN_MEMBER -> type == ControlLayout.TYPE_RC_CONNECT || type == ControlLayout.TYPE_FORMAT_ACK;
            default -> false;
        };
    }

    private long trueNs() {
        return process.events().nowNs();
    }

    /// The receiver took a datagram of its source.
    void onHeard() {
        heardNs = process.nowNs();
        onNoticed();
    }

    /// The receiver's machine got a datagram of its source, and perhaps refused it.
    void onNoticed() {
        noticedTrueNs = trueNs();
    }

    /// The source took a datagram of this receiver.
    void onHeardBySource(final long sourceNowNs) {
        sourceHeardNs = sourceNowNs;
        onNoticedBySource();
    }

    /// The source's machine got a datagram of this receiver, and perhaps refused it.
    void onNoticedBySource() {
        sourceNoticedTrueNs = trueNs();
    }

    /// The source took its READY.
    void onProven() {
        proven = true;
    }

    /// The source announced its group's round-trip time, which is long where a process stood still.
    void onRtt(final long ns) {
        rttNs = Math.max(rttNs, ns);
    }

    /// A NACK reports `count` sequences from `first` on.
    void onReported(final long first, final int count) {
        final int from = (int) (first - machine.startSequence());
        reported.set(from, from + count);
    }

    /// The receiver acknowledged everything up to the end.
    void onComplete() {
        complete = true;
    }

    /// The source notified this receiver that it is no member.
    void onEvicted(final long sourceNowNs, final long aliveTimeoutNs, final LeaveLayout.Reason reason) {
        final long silentNs = sourceNowNs - sourceHeardNs;
        // A membership that moved is kept by the proof of its new address alone.
        final boolean isKept = proven || !reception.isResumed();
        if (!dismissed && isKept && reason == LeaveLayout.Reason.SILENT && silentNs <= aliveTimeoutNs) {
            violation("evicted though the source heard it " + silentNs / 1000 + " us ago");
        }
        if (reason == LeaveLayout.Reason.SLOW && !reception.mayBeEvicted()) {
            violation("evicted for being slow: " + process.user().delivery());
        }
        if (!dismissed && reason == LeaveLayout.Reason.UNREPAIRABLE) {
            violation("evicted for datagrams that the source freed though it waits for this member");
        }
        if (reception.frames().isStarted()) {
            dismissed = true;
        } else {
            refused = true;
        }
    }

    /// The source counts it as a member.
    void onCounted() {
        refused = false;
    }

    /// The source rightly has no more duties to this receiver.
    void dismiss() {
        dismissed = true;
    }

    boolean isDismissed() {
        return refused || isOver();
    }

    /// Whether it will not be a member any more.
    boolean isOver() {
        return dismissed || reception.source().isClosed() || (refused && reception.isLost());
    }

    /// After each duty cycle.
    void check() {
        if (machine.state() != lastState) {
            lastState = machine.state();
            process.world().journal().decide(trueNs(), process.host().address(), lastState.ordinal());
            if (reception.isLost() && !isDismissed() && process.nowNs() - heardNs <= aliveNs()) {
                violation("gave the source up though it heard it: " + lastState + " " + machine.lostReason());
            }
        }
        if (machine.state() != State.RECEIVING || machine.missing() == 0) {
            gapSequence = -1;
            return;
        }
        if (gapSequence != machine.acknowledgedSequence()) {
            gapSequence = machine.acknowledgedSequence();
            gapSinceNs = trueNs();
        } else if (trueNs() - Math.max(gapSinceNs, process.pausedUntilNs()) > GAP_REPORT_MAX_NS + rttNs
                && !reported.get((int) (gapSequence - machine.startSequence()))) {
            violation("sequence " + gapSequence + " is missing and was not reported");
        }
        if (machine.missing() > machine.windowSlots()) {
            violation("misses " + machine.missing() + " datagrams in a window of " + machine.windowSlots());
        }
    }

    /// From time to time: the receiver must have noticed that its source fell silent.
    void watch() {
        final long silentNs = trueNs() - Math.max(noticedTrueNs, process.pausedUntilNs());
        if (!reception.isLost() && !reception.isFinished() && silentNs > aliveNs() + MARGIN_NS && !isComplete()) {
            violation("has not heard its source for " + silentNs / 1000 + " us and is " + machine.state());
        }
    }

    // A receiver that has everything ignores silence, because it can lose nothing any more.
    private boolean isComplete() {
        return machine.state() == State.ENDED || complete || hasAll();
    }

    // A co-root's ACKs cover its group, and do not show its own progress.
    private boolean hasAll() {
        final SimFrames frames = reception.source().frames();
        return frames.count() == process.world().options().stream().frames()
                && machine.acknowledgedSequence() == frames.firstSequence(frames.nextId());
    }

    /// From time to time: the source must have noticed that this receiver fell silent.
    ///
    /// @param sourceAwakeNs since when the source is up, by the true clock
    void watchFromSource(final long sourceAwakeNs) {
        final long silentNs = trueNs() - Math.max(sourceNoticedTrueNs, sourceAwakeNs);
        final long tickNs = SenderMachine.memberTickMaxNs(aliveNs());
        if (!isDismissed() && reception.frames().isStarted() && silentNs > aliveNs() + tickNs + MARGIN_NS) {
            violation("is a member still though its source has not heard it for " + silentNs / 1000 + " us");
        }
    }

    private long aliveNs() {
        return machine.stream().aliveTimeoutNs();
    }

    private void violation(final String text) {
        reception.violation(text);
    }
}
