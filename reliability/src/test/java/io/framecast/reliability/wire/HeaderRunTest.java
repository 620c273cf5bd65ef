package io.framecast.reliability.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class HeaderRunTest {
    private static final int STRIDE = 72;
    private static final int COUNT = 20;
    private static final long SESSION = 0x1234_5678_9abc_def0L;

    private final MemorySegment headers = MemorySegment.ofArray(new byte[STRIDE * COUNT + 8]);
    private final HeaderChecksum checksum = new HeaderChecksum();

    private void writeFrame(final long sequence, final long firstIndex) {
        final DataHeader header = new DataHeader()
                .session(DataLayout.TYPE_DATA, SESSION)
                .frame(77, 0xf000_0000L, 1_234_567)
                .attributes(DataLayout.FLAG_KEYFRAME, 12);
        for (int i = 0; i < COUNT; i++) {
            DataLayout.write(headers, (long) i * STRIDE + 8, header, sequence + i, firstIndex + i);
            checksum.seal(headers, (long) i * STRIDE + 8, SESSION);
        }
    }

    @Test
    void shouldCountWhatContinuesAFrameWhereverItBegins() {
        writeFrame(0xffff_fffeL, 3);
        for (int i = 0; i < COUNT; i++) {
            assertEquals(COUNT - 1 - i, HeaderRun.length(headers, (long) i * STRIDE + 8, STRIDE, COUNT - 1 - i));
            assertEquals(0, HeaderRun.length(headers, (long) i * STRIDE + 8, STRIDE, 0));
        }
        assertEquals(5, HeaderRun.length(headers, 8, STRIDE, 5));
    }

    @Test
    void shouldEndBeforeAHeaderThatDiffersInAnyBit() {
        final SplittableRandom random = new SplittableRandom(3);
        for (int bit = 0; bit < 8 * DataLayout.LENGTH; bit++) {
            writeFrame(1000, 0);
            final int at = 1 + random.nextInt(COUNT - 1);
            final long offset = (long) at * STRIDE + 8 + bit / 8;
            final byte byteValue = headers.get(ValueLayout.JAVA_BYTE, offset);
            headers.set(ValueLayout.JAVA_BYTE, offset, (byte) (byteValue ^ 1 << bit % 8));
            assertEquals(at - 1, HeaderRun.length(headers, 8, STRIDE, COUNT - 1));
        }
    }

    @Test
    void shouldTellASessionByTheHalfOfItsNonceThatIsNotSent() {
        writeFrame(1000, 0);
        checksum.seal(headers, 5 * STRIDE + 8, SESSION ^ 1L << 40);
        assertEquals(4, HeaderRun.length(headers, 8, STRIDE, COUNT - 1));
    }

    @Test
    void shouldWriteWhatSealingOneByOneWrites() {
        final SplittableRandom random = new SplittableRandom(4);
        for (int round = 0; round < 200; round++) {
            final long sequence = random.nextLong(1L << random.nextInt(2, 63));
            final long index = random.nextLong(1L << 31);
            writeFrame(sequence, index);
            final byte[] expected = headers.toArray(ValueLayout.JAVA_BYTE);
            headers.asSlice(8 + DataLayout.LENGTH, headers.byteSize() - 8 - DataLayout.LENGTH)
                    .fill((byte) 0);
            HeaderRun.write(headers, 8, STRIDE, COUNT - 1);
            assertArrayEquals(expected, headers.toArray(ValueLayout.JAVA_BYTE));
        }
    }
}
