package io.framecast.reliability.sim.shared;

import io.framecast.reliability.group.SegmentLayout;
import io.framecast.reliability.group.SegmentMemory;
import io.framecast.reliability.group.TableLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.function.Consumer;

/// Words in an array. One thread runs all simulated processes, so every order of memory is the same.
class SimWords extends SegmentMemory {
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final byte[] words;
    private final TableLayout layout;
    private final Consumer<Step> store;

    SimWords(final byte[] words, final TableLayout layout, final Consumer<Step> store) {
        this.words = words;
        this.layout = layout;
        this.store = store;
    }

    // A sign of life says nothing of the stream.
    private void step(final int offset) {
        if (offset != SegmentLayout.HEARTBEAT_AT) {
            final boolean inTable = offset >= layout.entry(0) && offset < layout.device(0);
            store.accept(inTable ? Step.ENTRY : Step.STORE);
        }
    }

    @Override
    public byte getByte(final int offset) {
        return words[offset];
    }

    @Override
    public int getInt(final int offset) {
        return (int) INTS.get(words, offset);
    }

    @Override
    public long getLong(final int offset) {
        return (long) LONGS.get(words, offset);
    }

    @Override
    public int getIntVolatile(final int offset) {
        return getInt(offset);
    }

    @Override
    public long getLongVolatile(final int offset) {
        return getLong(offset);
    }

    @Override
    public void getBytes(final int offset, final byte[] target) {
        System.arraycopy(words, offset, target, 0, target.length);
    }

    @Override
    public void putByte(final int offset, final byte value) {
        step(offset);
        words[offset] = value;
    }

    @Override
    public void putInt(final int offset, final int value) {
        step(offset);
        INTS.set(words, offset, value);
    }

    @Override
    public void putLong(final int offset, final long value) {
        step(offset);
        LONGS.set(words, offset, value);
    }

    @Override
    public void putIntRelease(final int offset, final int value) {
        putInt(offset, value);
    }

    @Override
    public void putLongRelease(final int offset, final long value) {
        putLong(offset, value);
    }

    @Override
    public void putIntVolatile(final int offset, final int value) {
        putInt(offset, value);
    }

    @Override
    public void putLongVolatile(final int offset, final long value) {
        putLong(offset, value);
    }

    // A process may die within the copy.
    @Override
    public void putBytes(final int offset, final byte[] bytes, final int count) {
        final int half = count / 2;
        step(offset);
        System.arraycopy(bytes, 0, words, offset, half);
        step(offset);
        System.arraycopy(bytes, half, words, offset + half, count - half);
    }

    @Override
    public void clear(final int offset, final int count) {
        step(offset);
        Arrays.fill(words, offset, offset + count, (byte) 0);
    }

    @Override
    public boolean compareAndSetInt(final int offset, final int expected, final int value) {
        final boolean same = getInt(offset) == expected;
        if (same) {
            putInt(offset, value);
        }
        return same;
    }

    @Override
    public boolean compareAndSetLong(final int offset, final long expected, final long value) {
        final boolean same = getLong(offset) == expected;
        if (same) {
            putLong(offset, value);
        }
        return same;
    }

    @Override
    public int getAndAddInt(final int offset, final int increment) {
        final int before = getInt(offset);
        putInt(offset, before + increment);
        return before;
    }
}
