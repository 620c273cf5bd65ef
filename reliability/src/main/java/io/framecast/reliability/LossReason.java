package io.framecast.reliability;

/// Why frames were lost to a receiver.
public enum LossReason {
    /// Something of it was lost, or sent when there was no room, and the source does not hold it any more.
    UNREPAIRABLE,
    /// Older than the deadline.
    EXPIRED,
    /// A newer one is whole.
    SUPERSEDED,
    /// Frames before it were given up, and the stream can be taken up again at a keyframe only.
    AWAITS_KEYFRAME,
    /// The table of the datagram that carried it is damaged.
    DAMAGED,
    /// Published while the receiver was no member.
    NOT_A_MEMBER
}
