package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;

/// A global identifier: 16 bytes in network order, of a port or of a multicast group. Over RoCE v2 it is an
/// IPv6 address, or an IPv4 address mapped into one (`::ffff:a.b.c.d`); a group of IPv4 must have that form
/// too, since attaching to `ff0e::ffff:a.b.c.d` succeeds and then receives nothing.
///
/// @param high the first eight bytes: the subnet prefix
/// @param low the last eight bytes: the interface identifier
public record Gid(long high, long low) {
    public static final int BYTES = VerbsLayouts.GID_BYTES;

    private static final ValueLayout.OfLong BIG_ENDIAN = JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final long MAPPED = 0xffffL << 32;
    private static final long MAPPED_MASK = -1L << 32;
    private static final long GLOBAL_GROUP = 0xff0eL << 48;

    /// The GID that RoCE v2 makes of an address, of a host or of a group.
    public static Gid ofAddress(final InetAddress address) {
        final byte[] raw = address.getAddress();
        if (raw.length == BYTES) {
            return read(MemorySegment.ofArray(raw), 0);
        }
        final int ipv4 =
                MemorySegment.ofArray(raw).get(ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN), 0);
        return new Gid(0, MAPPED | Integer.toUnsignedLong(ipv4));
    }

    /// Reads the next 16 bytes, in network order.
    public static Gid read(final ByteBuffer bytes) {
        return new Gid(bytes.getLong(), bytes.getLong());
    }

    static Gid read(final MemorySegment memory, final long offset) {
        return new Gid(memory.get(BIG_ENDIAN, offset), memory.get(BIG_ENDIAN, offset + Long.BYTES));
    }

    void write(final MemorySegment memory, final long offset) {
        memory.set(BIG_ENDIAN, offset, high);
        memory.set(BIG_ENDIAN, offset + Long.BYTES, low);
    }

    public byte[] toBytes() {
        final byte[] bytes = new byte[BYTES];
        write(MemorySegment.ofArray(bytes), 0);
        return bytes;
    }

    public boolean isZero() {
        return (high | low) == 0;
    }

    public boolean isIpv4Mapped() {
        return high == 0 && (low & MAPPED_MASK) == MAPPED;
    }

    public boolean isLinkLocal() {
        return high >>> 54 == 0xfe80L >>> 6;
    }

    /// Of a group: ff00::/8, or mapped from 224.0.0.0/4.
    public boolean isMulticast() {
        return isIpv4Mapped() ? (low >>> 28 & 0xf) == 0xe : high >>> 56 == 0xff;
    }

    /// Of a group of IPv4 as RoCE v1 writes it: `ff0e::ffff:a.b.c.d` with an address of 224.0.0.0/4.
    public boolean isIpv4GroupOfRoceV1() {
        return high == GLOBAL_GROUP && new Gid(0, low).isMulticast();
    }

    /// The same group of IPv4 as RoCE v2 writes it.
    public Gid toRoceV2() {
        return new Gid(0, low);
    }

    /// The address over RoCE v2.
    public InetAddress toAddress() {
        try {
            // Java makes an Inet4Address of a mapped one.
            return InetAddress.getByAddress(toBytes());
        } catch (final UnknownHostException e) {
            throw new AssertionError("16 bytes are an address", e);
        }
    }

    @Override
    public String toString() {
        return isIpv4Mapped()
                ? "::ffff:" + toAddress().getHostAddress()
                : HexFormat.of().formatHex(toBytes()).replaceAll("(....)(?!$)", "$1:");
    }

    /// Whether 16 bytes of memory are this identifier; without allocation.
    public boolean matches(final MemorySegment memory, final long offset) {
        return memory.get(BIG_ENDIAN, offset) == high && memory.get(BIG_ENDIAN, offset + Long.BYTES) == low;
    }
}
