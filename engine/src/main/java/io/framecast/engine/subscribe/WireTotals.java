package io.framecast.engine.subscribe;

import io.framecast.api.LossReason;
import io.framecast.reliability.receive.ReceiverCount;
import io.framecast.reliability.receive.ReceiverMachine;
import io.framecast.reliability.wire.Verdict;

/// The counts of a subscriber's sessions, added up.
final class WireTotals {
    private static final LossReason[] REASONS = LossReason.values();

    private final long[] lost = new long[REASONS.length];
    private long reassembledBytes;
    private long repaired;
    private long duplicates;
    private long rejected;

    void set(final WireTotals other) {
        System.arraycopy(other.lost, 0, lost, 0, lost.length);
        reassembledBytes = other.reassembledBytes;
        repaired = other.repaired;
        duplicates = other.duplicates;
        rejected = other.rejected;
    }

    void add(final ReceiverSession session) {
        final ReceiverMachine machine = session.machine();
        reassembledBytes += session.protocol().assembly().reassembledBytes();
        repaired += machine.counts().get(ReceiverCount.REPAIRED_DATAGRAMS);
        duplicates += machine.verdicts().get(Verdict.DUPLICATE);
        rejected += machine.verdicts().rejected();
        for (final LossReason reason : REASONS) {
            lost[reason.ordinal()] += session.queue().losses().total(reason);
        }
    }

    long lost(final LossReason reason) {
        return lost[reason.ordinal()];
    }

    long reassembledBytes() {
        return reassembledBytes;
    }

    long repaired() {
        return repaired;
    }

    long duplicates() {
        return duplicates;
    }

    long rejected() {
        return rejected;
    }
}
