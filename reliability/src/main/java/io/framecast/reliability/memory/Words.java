package io.framecast.reliability.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.agrona.UnsafeApi;

/// Single numbers in a segment, in the machine's byte order, aligned or not.
///
/// [MemorySegment#get] is as fast once the second compiler has seen the caller. Until then each call goes through a
/// dozen methods, all of which that compiler then has to read: a stream's first seconds went by with it. These methods
/// check bounds, and that the segment is open. A thread that closes a segment while another reads it breaks the
/// process.
public final class Words {
    private static final long ARRAY_BASE = UnsafeApi.arrayBaseOffset(byte[].class);

    private Words() {}

    private static long address(final MemorySegment memory, final long offset, final int bytes) {
        if (offset < 0 || offset > memory.byteSize() - bytes || !memory.scope().isAlive()) {
            throw refused(memory, offset, bytes);
        }
        return memory.address() + offset;
    }

    private static long target(final MemorySegment memory, final long offset, final int bytes) {
        if (memory.isReadOnly()) {
            throw new IllegalArgumentException("Attempt to write a read-only segment");
        }
        return address(memory, offset, bytes);
    }

    private static RuntimeException refused(final MemorySegment memory, final long offset, final int bytes) {
        return memory.scope().isAlive()
                ? new IndexOutOfBoundsException(
                        "expected " + bytes + " bytes within " + memory.byteSize() + ", got offset " + offset)
                : new IllegalStateException("Already closed");
    }

    public static byte getByte(final MemorySegment memory, final long offset) {
        return memory.isNative()
                ? UnsafeApi.getByte(address(memory, offset, Byte.BYTES))
                : memory.get(ValueLayout.JAVA_BYTE, offset);
    }

    public static short getShort(final MemorySegment memory, final long offset) {
        return memory.isNative()
                ? UnsafeApi.getShort(address(memory, offset, Short.BYTES))
                : memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, offset);
    }

    public static int getInt(final MemorySegment memory, final long offset) {
        return memory.isNative()
                ? UnsafeApi.getInt(address(memory, offset, Integer.BYTES))
                : memory.get(ValueLayout.JAVA_INT_UNALIGNED, offset);
    }

    public static long getLong(final MemorySegment memory, final long offset) {
        return memory.isNative()
                ? UnsafeApi.getLong(address(memory, offset, Long.BYTES))
                : memory.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
    }

    public static void setByte(final MemorySegment memory, final long offset, final byte value) {
        if (memory.isNative()) {
            UnsafeApi.putByte(target(memory, offset, Byte.BYTES), value);
        } else {
            memory.set(ValueLayout.JAVA_BYTE, offset, value);
        }
    }

    public static void setShort(final MemorySegment memory, final long offset, final short value) {
        if (memory.isNative()) {
            UnsafeApi.putShort(target(memory, offset, Short.BYTES), value);
        } else {
            memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, offset, value);
        }
    }

    public static void setInt(final MemorySegment memory, final long offset, final int value) {
        if (memory.isNative()) {
            UnsafeApi.putInt(target(memory, offset, Integer.BYTES), value);
        } else {
            memory.set(ValueLayout.JAVA_INT_UNALIGNED, offset, value);
        }
    }

    public static void setLong(final MemorySegment memory, final long offset, final long value) {
        if (memory.isNative()) {
            UnsafeApi.putLong(target(memory, offset, Long.BYTES), value);
        } else {
            memory.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, value);
        }
    }

    /// Copies bytes out: a header or a table, not a payload.
    public static void copy(
            final MemorySegment memory, final long offset, final byte[] target, final int at, final int bytes) {
        if (!memory.isNative()) {
            MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, offset, target, at, bytes);
            return;
        }
        if (at < 0 || bytes < 0 || at > target.length - bytes) {
            throw new IndexOutOfBoundsException(
                    "expected " + bytes + " bytes within " + target.length + ", got offset " + at);
        }
        final long from = address(memory, offset, bytes);
        final long to = ARRAY_BASE + at;
        final int words = bytes & -Long.BYTES;
        for (int i = 0; i < words; i += Long.BYTES) {
            UnsafeApi.putLong(target, to + i, UnsafeApi.getLong(from + i));
        }
        for (int i = words; i < bytes; i++) {
            target[at + i] = UnsafeApi.getByte(from + i);
        }
    }

    /// Copies out numbers of eight bytes that follow one another, as many as the target has room for.
    public static void copy(final MemorySegment memory, final long offset, final long[] target) {
        if (memory.isNative()) {
            final long from = address(memory, offset, target.length * Long.BYTES);
            for (int i = 0; i < target.length; i++) {
                target[i] = UnsafeApi.getLong(from + (long) i * Long.BYTES);
            }
        } else {
            MemorySegment.copy(memory, ValueLayout.JAVA_LONG_UNALIGNED, offset, target, 0, target.length);
        }
    }
}
