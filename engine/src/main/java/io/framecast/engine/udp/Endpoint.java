package io.framecast.engine.udp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.LaneAddress;
import io.framecast.engine.libc.Linux;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/// An IP address and a UDP port: as a lane address on the wire, and as a `sockaddr` for the system.
///
/// On the wire: one byte 4 or 6, the address, the port, big-endian; 7 or 19 bytes.
///
/// @param port 1 … 65535; 0 asks the system for one
record Endpoint(InetAddress address, int port) {
    private static final ValueLayout.OfShort NETWORK_SHORT = JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    IpFamily family() {
        return IpFamily.of(address);
    }

    LaneAddress toLaneAddress() {
        final byte[] raw = address.getAddress();
        return new LaneAddress(ByteBuffer.allocate(1 + raw.length + Short.BYTES)
                .put(family().version)
                .put(raw)
                .putShort((short) port)
                .array());
    }

    /// Reads the address that a peer claims for itself.
    ///
    /// @throws TransportException unless it is the address of one host, and a port
    static Endpoint decode(final LaneAddress laneAddress, final IpFamily family) {
        final byte[] bytes = laneAddress.toBytes();
        final int portAt = 1 + family.addressBytes;
        if (bytes.length != portAt + Short.BYTES || bytes[0] != family.version) {
            throw refused(laneAddress, "an address of " + family);
        }
        final InetAddress address = address(Arrays.copyOfRange(bytes, 1, portAt));
        final int port = Short.toUnsignedInt(ByteBuffer.wrap(bytes).getShort(portAt));
        // An IPv4-mapped IPv6 address comes back as IPv4.
        if (port == 0 || IpFamily.of(address) != family || !isOneHost(address)) {
            throw refused(laneAddress, "one host's address and a port");
        }
        return new Endpoint(address, port);
    }

    private static boolean isOneHost(final InetAddress address) {
        final byte[] raw = address.getAddress();
        // 0.0.0.0/8 means this host, 240.0.0.0/4 is reserved and holds the broadcast address.
        final boolean odd = raw.length == IpFamily.IPV4.addressBytes && (raw[0] == 0 || (raw[0] & 0xf0) == 0xf0);
        return !odd && !address.isAnyLocalAddress() && !address.isMulticastAddress();
    }

    private static TransportException refused(final LaneAddress address, final String expectation) {
        return new TransportException("udp: lane address: expected " + expectation + ", got " + address);
    }

    /// Writes a `sockaddr_in` or `sockaddr_in6`.
    ///
    /// @param interfaceIndex where link-local addresses are valid
    void write(final MemorySegment memory, final long offset, final int interfaceIndex) {
        final IpFamily family = family();
        memory.asSlice(offset, family.sockaddrBytes).fill((byte) 0);
        memory.set(JAVA_SHORT_UNALIGNED, offset, (short) family.number);
        memory.set(NETWORK_SHORT, offset + Linux.SIN_PORT, (short) port);
        final byte[] raw = address.getAddress();
        final int at = family == IpFamily.IPV4 ? Linux.SIN_ADDR : Linux.SIN6_ADDR;
        MemorySegment.copy(raw, 0, memory, JAVA_BYTE, offset + at, raw.length);
        if (family == IpFamily.IPV6 && isLinkLocal()) {
            memory.set(JAVA_INT_UNALIGNED, offset + Linux.SIN6_SCOPE_ID, interfaceIndex);
        }
    }

    // A link-local address needs an interface: unicast fe80::/10, multicast ffx1:: and ffx2::.
    private boolean isLinkLocal() {
        return address.isLinkLocalAddress() || address.isMCLinkLocal() || address.isMCNodeLocal();
    }

    /// Reads a `sockaddr` that the system wrote.
    static Endpoint read(final MemorySegment memory, final long offset, final IpFamily family) {
        final int at = family == IpFamily.IPV4 ? Linux.SIN_ADDR : Linux.SIN6_ADDR;
        final byte[] raw = memory.asSlice(offset + at, family.addressBytes).toArray(JAVA_BYTE);
        return new Endpoint(address(raw), memory.get(NETWORK_SHORT, offset + Linux.SIN_PORT) & 0xffff);
    }

    private static InetAddress address(final byte[] raw) {
        try {
            return InetAddress.getByAddress(raw);
        } catch (final UnknownHostException e) {
            throw new IllegalStateException("an address has 4 or 16 bytes", e);
        }
    }

    @Override
    public String toString() {
        final String host = address.getHostAddress();
        return (family() == IpFamily.IPV6 ? "[" + host + "]" : host) + ":" + port;
    }
}
