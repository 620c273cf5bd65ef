package io.framecast.rdma;

import io.framecast.api.error.TransportException;
import io.framecast.rdma.verbs.Gid;
import java.nio.ByteBuffer;

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
    private static final int BYTES = 1 + Gid.BYTES + 3 * Integer.BYTES + Short.BYTES;
    private static final int MTU_MIN = 256;
    private static final int MTU_MAX = 4096;
    // Numbers 0 and 1 are the port's own; 0xFFFFFF means a group.
    private static final int QUEUE_PAIR_MIN = 2;
    private static final int QUEUE_PAIR_MAX = 0xFFFFFE;

    byte[] toBytes() {
        return ByteBuffer.allocate(BYTES)
                .put(KIND)
                .put(gid.toBytes())
                .putInt(queuePair)
                .putInt(psn)
                .putInt(mtuBytes)
                .putShort((short) lid)
                .array();
    }

    /// Anything may come from the wire.
    ///
    /// @param own end from which the peer must be reachable
    /// @throws TransportException with the reason
    static RcDescriptor decode(final byte[] bytes, final RdmaAddress own) {
        if (bytes.length != BYTES || bytes[0] != KIND) {
            throw new TransportException("verbs: " + bytes.length + " bytes are no descriptor of a connection;"
                    + " peers must use verbs of the same version");
        }
        final ByteBuffer fields = ByteBuffer.wrap(bytes).position(1);
        final Gid gid = Gid.read(fields);
        final int number = fields.getInt();
        final int psn = fields.getInt();
        final int mtu = fields.getInt();
        final int lid = Short.toUnsignedInt(fields.getShort());
        if (number < QUEUE_PAIR_MIN
                || number > QUEUE_PAIR_MAX
                || psn >>> 24 != 0
                || mtu < MTU_MIN
                || mtu > MTU_MAX
                || Integer.bitCount(mtu) != 1) {
            throw new TransportException("verbs: a descriptor names queue pair " + number + " and packets of " + mtu
                    + " bytes, which no connection has");
        }
        if (gid.isMulticast() || gid.isZero() || lid > RdmaAddress.LID_MAX) {
            throw new TransportException("verbs: " + gid + " is no address of a peer");
        }
        new RdmaAddress(gid, lid, number, 0).requireReachable(own);
        return new RcDescriptor(gid, lid, number, psn, mtu);
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
