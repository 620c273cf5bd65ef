package io.framecast.engine.node;

import io.framecast.api.LossReason;
import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.wire.Verdict;

/// What a subscriber's sessions counted, added up.
final class WireTotals {
    private static final LossReason[] REASONS = LossReason.values();

    private final long[] lost = new long[REASONS.length];
    private long mendedBytes;
    private long repaired;
    private long duplicates;
    private long rejected;

    void set(final WireTotals other) {
        System.arraycopy(other.lost, 0, lost, 0, lost.length);
        mendedBytes = other.mendedBytes;
        repaired = other.repaired;
        duplicates = other.duplicates;
        rejected = other.rejected;
    }

    void add(final ReceiverSession link) {
        final ReceiverMachine machine = link.machine();
        mendedBytes += link.protocol().assembly().reassembledBytes();
        repaired += machine.counts().repairedDatagrams();
        duplicates += machine.verdicts().get(Verdict.DUPLICATE);
        rejected += machine.verdicts().rejected();
        for (final LossReason reason : REASONS) {
            lost[reason.ordinal()] += link.queue().losses().total(reason);
        }
    }

    long lost(final LossReason reason) {
        return lost[reason.ordinal()];
    }

    long mendedBytes() {
        return mendedBytes;
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
