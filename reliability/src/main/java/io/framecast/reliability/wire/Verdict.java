package io.framecast.reliability.wire;

/// What became of a datagram from the wire. Everything but GOOD, DUPLICATE, EARLY and OVERRUN is a rejection
/// and is counted by reason.
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
    /// Another session's tag or nonce.
    WRONG_SESSION,
    /// Valid, but older than the group table in force.
    STALE_EPOCH,
    /// From nobody who joined.
    UNKNOWN_MEMBER,
    /// A number that cannot be: sequence outside what was ever granted or sent, frame longer than frame-max …
    IMPOSSIBLE,
    /// Contradicts what other datagrams of the same frame, or of the stream, said.
    INCONSISTENT,
    /// One of more than is answered: a flood of JOINs, or of ranges in NACKs. Whoever means it repeats it.
    LIMITED;

    public boolean isRejection() {
        return this != GOOD && this != DUPLICATE && this != EARLY && this != OVERRUN;
    }
}
