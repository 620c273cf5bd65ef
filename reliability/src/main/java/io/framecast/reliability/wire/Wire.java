package io.framecast.reliability.wire;

import io.framecast.reliability.memory.Words;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;

/// Common values of all layouts: version, byte order, limits. Numbers are little-endian and unaligned.
public final class Wire {
    /// Version of the protocol; a datagram of any other version is counted and dropped.
    public static final int VERSION = 2;
    /// No control datagram is longer, so that all fit the smallest MTU of IPv6 (1280) with its headers.
    public static final int CONTROL_BYTES_MAX = 1200;
    /// Longest transport address inside a control datagram.
    public static final int ADDRESS_BYTES_MAX = 32;
    /// Longest descriptor of an endpoint inside a control datagram.
    public static final int LINK_BYTES_MAX = 64;

    /// No sequence is larger, so that sums of a sequence and a count never overflow: at 10^9 datagrams a
    /// second it lasts for 146 years.
    public static final long SEQUENCE_MAX = 1L << 62;

    private static final boolean SWAPPED = ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN;

    private Wire() {}

    static int getShort(final MemorySegment datagram, final long offset) {
        final short value = Words.getShort(datagram, offset);
        return (SWAPPED ? Short.reverseBytes(value) : value) & 0xffff;
    }

    static int getInt(final MemorySegment datagram, final long offset) {
        final int value = Words.getInt(datagram, offset);
        return SWAPPED ? Integer.reverseBytes(value) : value;
    }

    public static long getLong(final MemorySegment datagram, final long offset) {
        final long value = Words.getLong(datagram, offset);
        return SWAPPED ? Long.reverseBytes(value) : value;
    }

    /// Reads numbers of eight bytes that follow one another, as many as the target has room for.
    public static void getLongs(final MemorySegment datagram, final long offset, final long[] target) {
        Words.copy(datagram, offset, target);
        for (int i = 0; SWAPPED && i < target.length; i++) {
            target[i] = Long.reverseBytes(target[i]);
        }
    }

    static void setShort(final MemorySegment datagram, final long offset, final short value) {
        Words.setShort(datagram, offset, SWAPPED ? Short.reverseBytes(value) : value);
    }

    static void setInt(final MemorySegment datagram, final long offset, final int value) {
        Words.setInt(datagram, offset, SWAPPED ? Integer.reverseBytes(value) : value);
    }

    public static void setLong(final MemorySegment datagram, final long offset, final long value) {
        Words.setLong(datagram, offset, SWAPPED ? Long.reverseBytes(value) : value);
    }

    // A slice to fill would be allocated until the compiler has seen enough of the caller, which heartbeats
    // never reach.
    public static void zero(final MemorySegment datagram, final long offset, final int bytes) {
        for (int i = 0; i < bytes; i++) {
            Words.setByte(datagram, offset + i, (byte) 0);
        }
    }

    // Allocates.
    public static byte[] bytes(final MemorySegment datagram, final long offset, final int length) {
        final byte[] bytes = new byte[length];
        Words.copy(datagram, offset, bytes, 0, length);
        return bytes;
    }

    static int versionAndType(final int type) {
        return VERSION << 4 | type;
    }
}
