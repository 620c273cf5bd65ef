package io.framecast.engine.aeron;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.LaneAddress;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// A [LaneAddress] of this transport: `[family][ip 0|4|16][port u16][stream i32][session i32]`, big endian.
/// Family 0 is shared memory, where the stream alone names the lane and the port is 0.
///
/// @param ip where the lane receives unicast; null for shared memory
/// @param port its UDP port; 0 for a lane that only sends, and for shared memory
/// @param streamId its unicast stream
/// @param sessionId session of the lane's own group publication, by which a receiver picks one source
record PeerAddress(@Nullable InetAddress ip, int port, int streamId, int sessionId) {
    private static final byte SHARED_MEMORY = 0;
    private static final byte IPV4 = 4;
    private static final byte IPV6 = 6;
    private static final int FIXED_BYTES = 1 + Short.BYTES + Integer.BYTES + Integer.BYTES;
    private static final int PORT_MASK = 0xFFFF;

    LaneAddress encode() {
        final byte[] ipBytes = ip == null ? new byte[0] : ip.getAddress();
        final ByteBuffer buffer = ByteBuffer.allocate(FIXED_BYTES + ipBytes.length);
        buffer.put(ipBytes.length == 0 ? SHARED_MEMORY : ipBytes.length == IPV4 ? IPV4 : IPV6);
        buffer.put(ipBytes).putShort((short) port).putInt(streamId).putInt(sessionId);
        return new LaneAddress(buffer.array());
    }

    /// Reads bytes that came from the wire.
    ///
    /// @throws TransportException unless [#encode] can make them, with an address that one host can have
    static PeerAddress decode(final LaneAddress address) {
        final byte[] bytes = address.toBytes();
        final int ipBytes = bytes.length - FIXED_BYTES;
        final byte family = bytes.length == 0 ? -1 : bytes[0];
        final boolean known = (family == SHARED_MEMORY && ipBytes == 0)
                || (family == IPV4 && ipBytes == Integer.BYTES)
                || (family == IPV6 && ipBytes == 2 * Long.BYTES);
        if (!known) {
            throw new TransportException("aeron: not a lane address of this transport: " + address);
        }
        final ByteBuffer buffer = ByteBuffer.wrap(bytes, 1 + ipBytes, bytes.length - 1 - ipBytes);
        final InetAddress ip = family == SHARED_MEMORY ? null : ip(Arrays.copyOfRange(bytes, 1, 1 + ipBytes));
        final PeerAddress peer = new PeerAddress(ip, buffer.getShort() & PORT_MASK, buffer.getInt(), buffer.getInt());
        // An IPv4 address in IPv6's form is read as the former, and no writer makes it.
        final boolean isMapped = ip != null && ip.getAddress().length != ipBytes;
        if (isMapped || !peer.isPlausible()) {
            throw new TransportException("aeron: a lane address that no host can have: " + address);
        }
        return peer;
    }

    /// Whether [#decode]d bytes name something to send to; a lane that only sends does not.
    boolean isReachable() {
        return streamId != 0 && (ip == null || port != 0);
    }

    boolean isSharedMemory() {
        return ip == null;
    }

    @Override
    public String toString() {
        return ip == null ? "stream " + streamId : ip.getHostAddress() + ":" + port;
    }

    private boolean isPlausible() {
        if (ip == null) {
            return port == 0;
        }
        return !ip.isMulticastAddress() && !ip.isAnyLocalAddress() && !isBroadcast(ip.getAddress());
    }

    private static boolean isBroadcast(final byte[] ip) {
        for (final byte part : ip) {
            if (part != -1) {
                return false;
            }
        }
        return true;
    }

    private static InetAddress ip(final byte[] bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (final UnknownHostException e) {
            throw new IllegalStateException("length was checked", e);
        }
    }
}
