package io.framecast.reliability.wire;

/// The outcome of a datagram from the wire. All but GOOD, DUPLICATE, EARLY and OVERRUN are rejections, counted by
/// reason.
public enum Verdict {
    GOOD,
    /// Valid, but had arrived before: dropped silently, counted apart from rejections.
    DUPLICATE,
    /// Valid, but sent before this receiver was a member: dropped silently.
    EARLY,
    /// Valid, but the source did not wait for this receiver to have room: dropped, counted apart from
    /// rejections.
    OVERRUN,
    BAD_LENGTH,
    BAD_VERSION,
    BAD_TYPE,
    BAD_CHECKSUM,
    /// Not sealed with the stream's key.
    BAD_TAG,
    /// Another session's tag or nonce.
    WRONG_SESSION,
    /// Valid, but older than the group table in force.
    STALE_EPOCH,
    /// The receiver id belongs to no member.
    UNKNOWN_MEMBER,
    /// An impossible number: a sequence outside all that was granted or sent, a frame longer than frame-max …
    IMPOSSIBLE,
    /// Contradicts other datagrams of the same frame, or of the stream.
    INCONSISTENT,
    /// Beyond the limit of answers: a flood of JOINs, or of ranges in NACKs. A receiver repeats its request.
    LIMITED;

    public boolean isRejection() {
        return this != GOOD && this != DUPLICATE && this != EARLY && this != OVERRUN;
    }
}
