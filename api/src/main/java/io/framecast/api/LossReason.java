package io.framecast.api;

/// Why a frame was not given to a subscriber.
public enum LossReason {
    /// Something of it was lost, or sent while this subscriber had no room for it, and the source holds it no
    /// more. Also a frame that had begun when the source was lost, or evicted this subscriber.
    UNREPAIRABLE,
    /// Older than `delivery=deadline=…` allows.
    EXPIRED,
    /// A newer one was there first, under `delivery=latest`.
    SUPERSEDED,
    /// Frames before it were given up, and under `delivery=latest` marked streams are taken up at a keyframe
    /// only.
    AWAITS_KEYFRAME,
    /// The table of the datagram that it shared with other small frames was damaged at the source or on the
    /// way.
    DAMAGED,
    /// Published while this subscriber was no member of the session: after it was evicted or had lost the source.
    /// Reported when the session is joined again (`rejoin=`), or as far as the source announced it.
    NOT_A_MEMBER
}
