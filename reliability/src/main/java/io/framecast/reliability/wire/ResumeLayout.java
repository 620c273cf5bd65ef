package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// RESUME, member → source: the membership goes on at other addresses, by another process of the member's host. The
/// source answers with START, as it answers READY.
///
/// ```
///  40 acknowledged u64 (all below were received)  48 secret u64 (as in JOIN)  from 56 on as JOIN
/// ```
public final class ResumeLayout {
    public static final LongField ACKNOWLEDGED = new LongField(40);

    private ResumeLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return JoinLayout.isSound(datagram, offset)
                && ACKNOWLEDGED.get(datagram, offset) >= 0
                && ACKNOWLEDGED.get(datagram, offset) <= Wire.SEQUENCE_MAX;
    }

    /// Whether the sender knows the secret that JOIN gave.
    public static boolean knows(final MemorySegment datagram, final long offset, final long secret) {
        return JoinLayout.SECRET.get(datagram, offset) == secret;
    }

    /// The new addresses. Allocates.
    public static LaneAddresses addresses(final MemorySegment datagram, final long offset) {
        return JoinLayout.addresses(datagram, offset);
    }

    public static CoRootOffer offer(final MemorySegment datagram, final long offset) {
        return JoinLayout.offer(datagram, offset);
    }

    /// @param terms whose room and delivery stay as they are at the source
    public static int write(final ControlWriter out, final long acknowledged, final JoinLayout.Terms terms) {
        return JoinLayout.writeFrom(
                out.begin(ControlLayout.TYPE_RESUME, JoinLayout.flags(terms)).put(ACKNOWLEDGED, acknowledged), terms);
    }
}
