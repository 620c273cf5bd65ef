package io.framecast.reliability.secure;

/// Classes of sealed control datagrams. A nonce consists of the class, an int, and of a counter of the key, a long: no
/// nonce of one class equals a nonce of another, for any counters.
enum ControlNonce {
    /// Under the group's key: HEARTBEAT, FRAME, FORMAT, EVICT to all.
    SOURCE_TO_GROUP(0x0200_0001),
    /// Under the pair's key.
    SOURCE_TO_MEMBER(0x0200_0002),
    /// Under the pair's key of the other direction.
    MEMBER_TO_SOURCE(0x0200_0003),
    /// Under the key of the sender, derived from the group's.
    MEMBER_TO_MEMBER(0x0200_0004),
    /// The sealed part of ANSWER, under the pair's key of source to member.
    ANSWER(0x0200_0005);

    private final int lane;

    ControlNonce(final int lane) {
        this.lane = lane;
    }

    /// The first four bytes of the nonce, big-endian: 2, the protocol's version, in front.
    int lane() {
        return lane;
    }
}
