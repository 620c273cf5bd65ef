package io.framecast.reliability.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class WordsTest {
    private static final int BYTES = 24;

    static Stream<MemorySegment> memories() {
        return Stream.of(
                Arena.ofAuto().allocate(BYTES),
                MemorySegment.ofArray(new byte[BYTES]),
                Arena.ofAuto().allocate(BYTES + 3).asSlice(3));
    }

    @ParameterizedTest
    @MethodSource("memories")
    void shouldReadWhatASegmentHoldsAndWriteWhatItReads(final MemorySegment memory) {
        for (int at = 0; at <= BYTES - Long.BYTES; at++) {
            Words.setLong(memory, at, 0x8102_0304_0506_0788L);
            assertEquals(0x8102_0304_0506_0788L, memory.get(ValueLayout.JAVA_LONG_UNALIGNED, at));
            assertEquals(0x8102_0304_0506_0788L, Words.getLong(memory, at));
            assertEquals(memory.get(ValueLayout.JAVA_INT_UNALIGNED, at), Words.getInt(memory, at));
            assertEquals(memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, at), Words.getShort(memory, at));
            assertEquals(memory.get(ValueLayout.JAVA_BYTE, at), Words.getByte(memory, at));
            Words.setInt(memory, at, 0x8a0b_0c0d);
            assertEquals(0x8a0b_0c0d, memory.get(ValueLayout.JAVA_INT_UNALIGNED, at));
            Words.setShort(memory, at, (short) 0x9e0f);
            assertEquals((short) 0x9e0f, memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, at));
            Words.setByte(memory, at, (byte) 0xa1);
            assertEquals((byte) 0xa1, memory.get(ValueLayout.JAVA_BYTE, at));
        }
    }

    @ParameterizedTest
    @MethodSource("memories")
    void shouldCopyOutOfASegment(final MemorySegment memory) {
        for (int i = 0; i < BYTES; i++) {
            Words.setByte(memory, i, (byte) (i + 1));
        }
        for (int bytes = 0; bytes < BYTES - 1; bytes++) {
            final byte[] target = new byte[BYTES];
            Words.copy(memory, 2, target, 1, bytes);
            final byte[] expected = new byte[BYTES];
            MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, 2, expected, 1, bytes);
            assertArrayEquals(expected, target);
        }
        assertThrows(IndexOutOfBoundsException.class, () -> Words.copy(memory, 1, new byte[64], 0, BYTES));
        assertThrows(IndexOutOfBoundsException.class, () -> Words.copy(memory, 0, new byte[8], 1, 8));
        assertThrows(IndexOutOfBoundsException.class, () -> Words.copy(memory, 0, new byte[8], -1, 4));
        assertThrows(IndexOutOfBoundsException.class, () -> Words.copy(memory, 0, new byte[8], 0, -1));
    }

    @ParameterizedTest
    @MethodSource("memories")
    void shouldRefuseWhatIsOutOfBounds(final MemorySegment memory) {
        for (final long offset : new long[] {-1, BYTES, Long.MAX_VALUE, Long.MIN_VALUE}) {
            refused(IndexOutOfBoundsException.class, memory, offset);
        }
        assertThrows(IndexOutOfBoundsException.class, () -> Words.getLong(memory, BYTES - 7));
        assertThrows(IndexOutOfBoundsException.class, () -> Words.getInt(memory, BYTES - 3));
        assertThrows(IndexOutOfBoundsException.class, () -> Words.getShort(memory, BYTES - 1));
    }

    @Test
    void shouldRefuseAClosedSegment() {
        final MemorySegment closed;
        try (Arena arena = Arena.ofShared()) {
            closed = arena.allocate(BYTES);
        }
        refused(IllegalStateException.class, closed, 0);
    }

    @ParameterizedTest
    @MethodSource("memories")
    void shouldNotWriteAReadOnlySegment(final MemorySegment memory) {
        final MemorySegment readOnly = memory.asReadOnly();
        assertEquals(0, Words.getInt(readOnly, 0));
        for (final Consumer<MemorySegment> write : writes(0)) {
            assertThrows(RuntimeException.class, () -> write.accept(readOnly));
        }
        assertEquals(0, Words.getLong(readOnly, 0));
    }

    private static void refused(
            final Class<? extends Throwable> expected, final MemorySegment memory, final long offset) {
        assertThrows(expected, () -> Words.getByte(memory, offset));
        assertThrows(expected, () -> Words.getShort(memory, offset));
        assertThrows(expected, () -> Words.getInt(memory, offset));
        assertThrows(expected, () -> Words.getLong(memory, offset));
        for (final Consumer<MemorySegment> write : writes(offset)) {
            assertThrows(expected, () -> write.accept(memory));
        }
    }

    private static Iterable<Consumer<MemorySegment>> writes(final long offset) {
        return List.of(
                memory -> Words.setByte(memory, offset, (byte) 1),
                memory -> Words.setShort(memory, offset, (short) 1),
                memory -> Words.setInt(memory, offset, 1),
                memory -> Words.setLong(memory, offset, 1));
    }
}
