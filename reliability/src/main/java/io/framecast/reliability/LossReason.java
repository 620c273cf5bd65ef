package io.framecast.reliability;

/// Why a receiver that its source does not wait for gave frames up.
public enum LossReason {
    /// Something of it was lost, or sent when there was no room, and the source does not hold it any more.
    UNREPAIRABLE,
    /// Older than the deadline.
    EXPIRED,
    /// A newer one is whole.
    SUPERSEDED,
    /// Frames before it were given up, and the stream can be taken up again at a keyframe only.
    AWAITS_KEYFRAME
}
