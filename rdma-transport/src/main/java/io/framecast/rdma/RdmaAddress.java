package io.framecast.rdma;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.LaneAddress;
import io.framecast.rdma.verbs.Gid;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;

/// Where a lane is reached: as bytes `[kind 1 | GID 16 | queue pair 4 | queue key 4]`, and `[… | LID 2]` on
/// InfiniBand; numbers in network order.
///
/// @param gid of the port
/// @param lid local identifier of the port on InfiniBand, 0 over RoCE
/// @param queuePair number, 24 bits
/// @param queueKey the key that its datagrams carry
record RdmaAddress(Gid gid, int lid, int queuePair, int queueKey) {
    private static final byte KIND = 'V';
    private static final byte KIND_INFINIBAND = 'I';
    // Numbers above are of groups.
    static final int LID_MAX = 0xbfff;
    private static final int BYTES = 1 + Gid.BYTES + 2 * Integer.BYTES;
    private static final int BYTES_INFINIBAND = BYTES + Short.BYTES;

    boolean isInfiniBand() {
        return lid != 0;
    }

    LaneAddress toLaneAddress() {
        final ByteBuffer bytes = ByteBuffer.allocate(isInfiniBand() ? BYTES_INFINIBAND : BYTES)
                .put(isInfiniBand() ? KIND_INFINIBAND : KIND)
                .put(gid.toBytes())
                .putInt(queuePair)
                .putInt(queueKey);
        if (isInfiniBand()) {
            bytes.putShort((short) lid);
        }
        return new LaneAddress(bytes.array());
    }

    /// Whether datagrams may go there at all; nothing is asked of the network.
    ///
    /// @param own address of the sender
    /// @throws TransportException with the reason
    void requireReachable(final RdmaAddress own) {
        if (isInfiniBand() != own.isInfiniBand()) {
            throw new TransportException("verbs: " + gid + " is on another kind of network than " + own.gid
                    + "; peers of one group must all be on InfiniBand, or all on RoCE");
        }
        if (isInfiniBand()) {
            return;
        }
        final InetAddress host = gid.toAddress();
        if (gid.isIpv4Mapped() != own.gid.isIpv4Mapped()) {
            throw new TransportException("verbs: " + gid + " is of another family than " + own.gid
                    + "; peers of one group must use addresses of its family");
        }
        if (host.isLoopbackAddress() || host.isAnyLocalAddress() || isReserved(host)) {
            throw new TransportException("verbs: " + gid + " is no address of a peer");
        }
    }

    // 0.0.0.0/8 and 240.0.0.0/4 with the broadcast address (RFC 6890).
    private static boolean isReserved(final InetAddress host) {
        final int first = Byte.toUnsignedInt(host.getAddress()[0]);
        return host instanceof Inet4Address && (first == 0 || first >= 240);
    }

    /// Anything may come from the wire.
    static RdmaAddress decode(final LaneAddress address) {
        final byte[] bytes = address.toBytes();
        if (!isWhole(bytes) || bytes[1 + Gid.BYTES] != 0) {
            throw new TransportException(
                    "verbs: " + address + " is no address of this transport; peers must use verbs");
        }
        final ByteBuffer fields = ByteBuffer.wrap(bytes).position(1);
        final Gid gid = Gid.read(fields);
        final int queuePair = fields.getInt();
        final int queueKey = fields.getInt();
        final int lid = fields.hasRemaining() ? Short.toUnsignedInt(fields.getShort()) : 0;
        if (gid.isMulticast() || gid.isZero() || lid > LID_MAX || (bytes.length != BYTES && lid == 0)) {
            throw new TransportException("verbs: " + gid + " is no address of a peer");
        }
        return new RdmaAddress(gid, lid, queuePair, queueKey);
    }

    private static boolean isWhole(final byte[] bytes) {
        return (bytes.length == BYTES && bytes[0] == KIND)
                || (bytes.length == BYTES_INFINIBAND && bytes[0] == KIND_INFINIBAND);
    }
}
