package io.framecast.gpu;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// Words in memory that host and device share: little-endian, aligned, loads that acquire and stores that release,
/// as `ld.acquire.sys` and `st.release.sys` are on the other end. [#INT] and [#LONG] access the data that the word
/// publishes.
public final class SharedWords {
    /// Coordinates: segment, offset.
    public static final VarHandle INT =
            ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

    public static final VarHandle LONG =
            ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

    private SharedWords() {}

    /// Loads with acquire order.
    public static int intAt(final MemorySegment memory, final long offset) {
        return (int) INT.getAcquire(memory, offset);
    }

    /// Stores with release order.
    public static void intAt(final MemorySegment memory, final long offset, final int value) {
        INT.setRelease(memory, offset, value);
    }

    /// Loads with acquire order.
    public static long longAt(final MemorySegment memory, final long offset) {
        return (long) LONG.getAcquire(memory, offset);
    }

    /// Stores with release order.
    public static void longAt(final MemorySegment memory, final long offset, final long value) {
        LONG.setRelease(memory, offset, value);
    }
}
