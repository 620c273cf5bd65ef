package io.framecast.reliability.group;

import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/// Words of a segment in the memory of one process.
final class ArrayMemory extends SegmentMemory {
    private final UnsafeBuffer buffer;

    ArrayMemory(final int bytes) {
        buffer = new UnsafeBuffer(ByteBuffer.allocateDirect(bytes));
    }

    @Override
    public byte getByte(final int offset) {
        return buffer.getByte(offset);
    }

    @Override
    public int getInt(final int offset) {
        return buffer.getInt(offset);
    }

    @Override
    public long getLong(final int offset) {
        return buffer.getLong(offset);
    }

    @Override
    public int getIntVolatile(final int offset) {
        return buffer.getIntVolatile(offset);
    }

    @Override
    public long getLongVolatile(final int offset) {
        return buffer.getLongVolatile(offset);
    }

    @Override
    public void getBytes(final int offset, final byte[] target) {
        buffer.getBytes(offset, target);
    }

    @Override
    public void putByte(final int offset, final byte value) {
        buffer.putByte(offset, value);
    }

    @Override
    public void putInt(final int offset, final int value) {
        buffer.putInt(offset, value);
    }

    @Override
    public void putLong(final int offset, final long value) {
        buffer.putLong(offset, value);
    }

    @Override
    public void putIntRelease(final int offset, final int value) {
        buffer.putIntVolatile(offset, value);
    }

    @Override
    public void putLongRelease(final int offset, final long value) {
        buffer.putLongVolatile(offset, value);
    }

    @Override
    public void putIntVolatile(final int offset, final int value) {
        buffer.putIntVolatile(offset, value);
    }

    @Override
    public void putLongVolatile(final int offset, final long value) {
        buffer.putLongVolatile(offset, value);
    }

    @Override
    public void putBytes(final int offset, final byte[] bytes, final int count) {
        buffer.putBytes(offset, bytes, 0, count);
    }

    @Override
    public void clear(final int offset, final int count) {
        buffer.setMemory(offset, count, (byte) 0);
    }

    @Override
    public boolean compareAndSetInt(final int offset, final int expected, final int value) {
        return buffer.compareAndSetInt(offset, expected, value);
    }

    @Override
    public boolean compareAndSetLong(final int offset, final long expected, final long value) {
        return buffer.compareAndSetLong(offset, expected, value);
    }

    @Override
    public int getAndAddInt(final int offset, final int increment) {
        return buffer.getAndAddInt(offset, increment);
    }
}
