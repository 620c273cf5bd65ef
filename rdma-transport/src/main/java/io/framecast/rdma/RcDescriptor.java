package io.framecast.rdma;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.framecast.api.error.TransportException;
import io.framecast.rdma.verbs.Gid;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/// The data that the other end needs for a reliable connection: as bytes `[kind 1 | GID 16 | queue pair 4 | first
/// packet sequence number 4 | path MTU 4 | LID 2]`, numbers in network order.
///
/// @param gid of the port
/// @param lid local identifier of the port on InfiniBand, 0 over RoCE
/// @param queuePair number, 24 bits
/// @param psn first packet sequence number that it sends, 24 bits
/// @param mtuBytes largest packet it can take: 256 … 4096, a power of two
record RcDescriptor(Gid gid, int lid, int queuePair, int psn, int mtuBytes) {
    private static final byte KIND = 'R';
    private static final int QUEUE_PAIR = 1 + Gid.BYTES;
    private static final int PSN = QUEUE_PAIR + Integer.BYTES;
    private static final int MTU = PSN + Integer.BYTES;
    private static final int LID = MTU + Integer.BYTES;
    private static final int BYTES = LID + Short.BYTES;
    private static final int MTU_MIN = 256;
    private static final int MTU_MAX = 4096;
    // Numbers 0 and 1 are the port's own; 0xFFFFFF means a group.
    private static final int QUEUE_PAIR_MIN = 2;
    private static final int QUEUE_PAIR_MAX = 0xFFFFFE;
    private static final ValueLayout.OfShort SHORT = JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    byte[] toBytes() {
        final byte[] bytes = new byte[BYTES];
        bytes[0] = KIND;
        System.arraycopy(gid.toBytes(), 0, bytes, 1, Gid.BYTES);
        final MemorySegment memory = MemorySegment.ofArray(bytes);
        memory.set(INT, QUEUE_PAIR, queuePair);
        memory.set(INT, PSN, psn);
        memory.set(INT, MTU, mtuBytes);
        memory.set(SHORT, LID, (short) lid);
        return bytes;
    }

    /// Anything may come from the wire.
    ///
    /// @param own end from which the peer must be reachable
    /// @throws TransportException with the reason
    static RcDescriptor decode(final byte[] bytes, final RdmaAddress own) {
        final MemorySegment memory = MemorySegment.ofArray(bytes);
        if (bytes.length != BYTES || bytes[0] != KIND) {
            throw new TransportException("verbs: " + bytes.length + " bytes are no descriptor of a connection;"
                    + " peers must use verbs of the same version");
        }
        final int number = memory.get(INT, QUEUE_PAIR);
        final int mtu = memory.get(INT, MTU);
        if (number < QUEUE_PAIR_MIN
                || number > QUEUE_PAIR_MAX
                || memory.get(INT, PSN) >>> 24 != 0
                || mtu < MTU_MIN
                || mtu > MTU_MAX
                || Integer.bitCount(mtu) != 1) {
            throw new TransportException("verbs: a descriptor names queue pair " + number + " and packets of " + mtu
                    + " bytes, which no connection has");
        }
        final Gid gid = Gid.ofBytes(Arrays.copyOfRange(bytes, 1, QUEUE_PAIR));
        final int lid = Short.toUnsignedInt(memory.get(SHORT, LID));
        if (gid.isMulticast() || gid.isZero() || lid > RdmaAddress.LID_MAX) {
            throw new TransportException("verbs: " + gid + " is no address of a peer");
        }
        new RdmaAddress(gid, lid, number, 0).requireReachable(own);
        return new RcDescriptor(gid, lid, number, memory.get(INT, PSN), mtu);
    }

    /// The largest packet of both ends.
    int pathMtuBytes(final RcDescriptor peer) {
        return Math.min(mtuBytes, peer.mtuBytes);
    }

    /// The largest packet that a port takes.
    ///
    /// @param datagramBytesMax the port's
    static int mtuBytes(final int datagramBytesMax) {
        return Math.clamp(Integer.highestOneBit(datagramBytesMax), MTU_MIN, MTU_MAX);
    }
}
