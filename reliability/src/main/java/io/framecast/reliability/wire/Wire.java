package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// Common values of all layouts: version, byte order, limits. Numbers are little-endian and unaligned.
public final class Wire {
    /// Version 1 of the protocol; a datagram of any other version is counted and dropped.
    public static final int VERSION = 1;
    /// No control datagram is longer, so that all fit the smallest MTU of IPv6 (1280) with its headers.
    public static final int CONTROL_BYTES_MAX = 1200;
    /// Longest transport address inside a control datagram.
    public static final int ADDRESS_BYTES_MAX = 32;
    /// Longest descriptor of an endpoint inside a control datagram.
    public static final int LINK_BYTES_MAX = 64;

    /// No sequence is larger, so that sums of a sequence and a count never overflow: at 10^9 datagrams a
    /// second it lasts for 146 years.
    public static final long SEQUENCE_MAX = 1L << 62;

    static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Wire() {}

    // A slice to fill would be allocated until the compiler has seen enough of the caller, which heartbeats
    // never reach.
    static void zero(final MemorySegment datagram, final long offset, final int bytes) {
        for (int i = 0; i < bytes; i++) {
            datagram.set(ValueLayout.JAVA_BYTE, offset + i, (byte) 0);
        }
    }

    // Allocates.
    static byte[] bytes(final MemorySegment datagram, final long offset, final int length) {
        final byte[] bytes = new byte[length];
        MemorySegment.copy(datagram, ValueLayout.JAVA_BYTE, offset, bytes, 0, length);
        return bytes;
    }

    static int versionAndType(final int type) {
        return VERSION << 4 | type;
    }
}
