package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// RESUME, receiver → source: the membership that began with this secret goes on with the sender, a receiver of a new
/// id at other addresses. The source answers with START, as it answers READY. The membership's secret counts on with
/// each move, so that a RESUME which comes late moves nothing. A holder that died before its RESUME arrived has counted
/// too: the source takes a secret that is ahead of the one it knows.
///
/// ```
///  40 acknowledged u64 (all below were received)  48 secret u64 (as in JOIN)  from 56 on as JOIN
/// ```
public final class ResumeLayout {
    public static final LongField ACKNOWLEDGED = new LongField(40);

    /// Most moves that a source may have missed.
    public static final int MISSED_MAX = 64;

    private ResumeLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        return JoinLayout.isSound(datagram, offset)
                && ACKNOWLEDGED.get(datagram, offset) >= 0
                && ACKNOWLEDGED.get(datagram, offset) <= Wire.SEQUENCE_MAX;
    }

    /// The membership's secret as the sender knows it.
    public static long secret(final MemorySegment datagram, final long offset) {
        return JoinLayout.SECRET.get(datagram, offset);
    }

    /// The secret of the receiver that moves the membership by this one.
    public static long next(final long secret) {
        return secret + 1;
    }

    /// Whether a secret moves a membership whose secret the source knows as `known`.
    public static boolean moves(final long known, final long secret) {
        return secret - known >= 0 && secret - known <= MISSED_MAX;
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
