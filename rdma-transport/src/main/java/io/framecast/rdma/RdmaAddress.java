package io.framecast.rdma;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.LaneAddress;
import io.framecast.rdma.verbs.Gid;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteOrder;
import java.util.Arrays;

/// Where a lane is reached: as bytes `[kind 1 | GID 16 | queue pair 4 | queue key 4]`, and `[… | LID 2]` on
/// InfiniBand; numbers in network order.
///
/// @param gid of the port
/// @param lid local identifier of the port on InfiniBand, 0 over RoCE
/// @param queuePair number, 24 bits
/// @param queueKey what its datagrams carry
record RdmaAddress(Gid gid, int lid, int queuePair, int queueKey) {
    private static final byte KIND = 'V';
    private static final byte KIND_INFINIBAND = 'I';
    // Those above are of groups.
    static final int LID_MAX = 0xbfff;
    private static final int QUEUE_PAIR = 1 + Gid.BYTES;
    private static final int QUEUE_KEY = QUEUE_PAIR + Integer.BYTES;
    private static final int BYTES = QUEUE_KEY + Integer.BYTES;
    private static final int BYTES_INFINIBAND = BYTES + Short.BYTES;
    private static final ValueLayout.OfInt INT = JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfShort SHORT = JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    boolean isInfiniBand() {
        return lid != 0;
    }

    LaneAddress toLaneAddress() {
        final byte[] bytes = new byte[isInfiniBand() ? BYTES_INFINIBAND : BYTES];
        bytes[0] = isInfiniBand() ? KIND_INFINIBAND : KIND;
        System.arraycopy(gid.toBytes(), 0, bytes, 1, Gid.BYTES);
        final MemorySegment memory = MemorySegment.ofArray(bytes);
        memory.set(INT, QUEUE_PAIR, queuePair);
        memory.set(INT, QUEUE_KEY, queueKey);
        if (isInfiniBand()) {
            memory.set(SHORT, BYTES, (short) lid);
        }
        return new LaneAddress(bytes);
    }

    /// Whether datagrams may go there at all; nothing is asked of the network.
    ///
    /// @param own address of who sends
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
        final MemorySegment memory = MemorySegment.ofArray(bytes);
        if (!isWhole(bytes) || memory.get(INT, QUEUE_PAIR) >>> 24 != 0) {
            throw new TransportException(
                    "verbs: " + address + " is no address of this transport; peers must use verbs");
        }
        final int lid = bytes.length == BYTES ? 0 : Short.toUnsignedInt(memory.get(SHORT, BYTES));
        final Gid gid = Gid.ofBytes(Arrays.copyOfRange(bytes, 1, QUEUE_PAIR));
        if (gid.isMulticast() || gid.isZero() || lid > LID_MAX || (bytes.length != BYTES && lid == 0)) {
            throw new TransportException("verbs: " + gid + " is no address of a peer");
        }
        return new RdmaAddress(gid, lid, memory.get(INT, QUEUE_PAIR), memory.get(INT, QUEUE_KEY));
    }

    private static boolean isWhole(final byte[] bytes) {
        return (bytes.length == BYTES && bytes[0] == KIND)
                || (bytes.length == BYTES_INFINIBAND && bytes[0] == KIND_INFINIBAND);
    }
}
