package io.framecast.reliability.receive;

/// The reason for the loss of frames to a receiver.
public enum LossReason {
    /// A part of the frame was lost, or sent without room for it, and the source does not hold it any more.
    UNREPAIRABLE,
    /// The frame is older than the deadline.
    EXPIRED,
    /// A newer frame is whole.
    SUPERSEDED,
    /// Frames before it were dropped, and the stream can be taken up again at a keyframe only.
    AWAITS_KEYFRAME,
    /// The table of the datagram that carried it is damaged.
    DAMAGED,
    /// The frame was published while the receiver was no member.
    NOT_A_MEMBER
}
