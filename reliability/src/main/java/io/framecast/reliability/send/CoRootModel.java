package io.framecast.reliability.send;

import io.framecast.reliability.send.CoRootConfig.Feed;
import io.framecast.reliability.wire.RepairGroupLayout;

/// The number of co-roots for a group (Subramoni, analytical model: "With too many co-roots, performance is bad due
/// to large number of reliable point to point messages. With too few co-roots, performance is bad due to too much
/// ACK processing at co-roots").
///
/// Per data datagram, with one ACK for every M datagrams: the source takes K aggregates and, with
/// [Feed#UNICAST], sends K datagrams: K · (a ÷ M + u). A co-root takes its members' ACKs: N ÷ K · a ÷ M. The load
/// of the busier one is least where both are equal: K = √(N · a ÷ (a + u · M)); with [Feed#MULTICAST], u = 0 and
/// K = √N.
///
/// @param ackNs a: taking one ACK
/// @param unicastNs u: sending one datagram by unicast
/// @param datagramsPerAck M
public record CoRootModel(double ackNs, double unicastNs, double datagramsPerAck) {
    /// In smaller groups the source takes all ACKs: they cost it less than replicas of the window would cost
    /// co-roots.
    public static final int MEMBERS_MIN = 16;

    /// Measured on a virtual machine over `udp`; only the ratios matter.
    public static final CoRootModel DEFAULT = new CoRootModel(1_000, 500, 64);

    /// Co-roots for so many members.
    public int coRoots(final int members, final Feed feed) {
        if (members < MEMBERS_MIN) {
            return 0;
        }
        final double unicast = feed == Feed.UNICAST ? unicastNs * datagramsPerAck : 0;
        final double best = StrictMath.sqrt(members * ackNs / (ackNs + unicast));
        final int least = (members + RepairGroupLayout.MEMBERS_MAX) / (RepairGroupLayout.MEMBERS_MAX + 1);
        return Math.max(least, (int) StrictMath.round(best));
    }
}
