package io.framecast.api;

/// Frames that a subscriber was not given, by [LossReason].
///
/// @param unrepairable see [LossReason#UNREPAIRABLE]
/// @param expired see [LossReason#EXPIRED]
/// @param superseded see [LossReason#SUPERSEDED]
/// @param awaitsKeyframe see [LossReason#AWAITS_KEYFRAME]
/// @param damaged see [LossReason#DAMAGED]
/// @param notAMember see [LossReason#NOT_A_MEMBER]
public record LossCounts(
        long unrepairable, long expired, long superseded, long awaitsKeyframe, long damaged, long notAMember) {
    public static final LossCounts NONE = new LossCounts(0, 0, 0, 0, 0, 0);

    public long of(final LossReason reason) {
        return switch (reason) {
            case UNREPAIRABLE -> unrepairable;
            case EXPIRED -> expired;
            case SUPERSEDED -> superseded;
            case AWAITS_KEYFRAME -> awaitsKeyframe;
            case DAMAGED -> damaged;
            case NOT_A_MEMBER -> notAMember;
        };
    }

    public long total() {
        return unrepairable + expired + superseded + awaitsKeyframe + damaged + notAMember;
    }
}
