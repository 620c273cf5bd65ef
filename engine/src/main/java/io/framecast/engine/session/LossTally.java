package io.framecast.engine.session;

import io.framecast.api.LossCounts;
import io.framecast.api.LossReason;

/// Counts lost frames by reason. One thread counts; other threads may read older values.
public final class LossTally {
    private final long[] lost = new long[LossReason.values().length];

    public void add(final LossReason reason, final long count) {
        lost[reason.ordinal()] += count;
    }

    public LossCounts counts() {
        return new LossCounts(
                of(LossReason.UNREPAIRABLE),
                of(LossReason.EXPIRED),
                of(LossReason.SUPERSEDED),
                of(LossReason.AWAITS_KEYFRAME),
                of(LossReason.DAMAGED),
                of(LossReason.NOT_A_MEMBER));
    }

    private long of(final LossReason reason) {
        return lost[reason.ordinal()];
    }
}
