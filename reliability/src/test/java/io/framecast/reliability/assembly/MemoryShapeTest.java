package io.framecast.reliability.assembly;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.reliability.assembly.MemoryShape.Kind;
import io.framecast.reliability.wire.BundleLayout;
import io.framecast.reliability.wire.StreamInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class MemoryShapeTest {
    private static StreamInfo stream(final int slotBytes, final long frameMaxBytes) {
        return new StreamInfo(1, "shape", slotBytes, 64, frameMaxBytes, 1000, new byte[] {1}, new byte[] {2});
    }

    private static MemoryShape shape(final Kind kind, final int slotBytes, final int ringSlots) {
        return MemoryShape.of(stream(slotBytes, 100_000), kind, ringSlots, 0, false, 2);
    }

    @ParameterizedTest
    @CsvSource({"64, 512", "256, 512", "257, 510", "1408, 93", "2048, 64", "8192, 64", "65472, 64"})
    void shouldTakeManyShortDatagramsAtATimeAndFewLongOnes(final int slotBytes, final int batchMax) {
        assertEquals(batchMax, MemoryShape.batchMax(slotBytes));
        assertEquals(batchMax, shape(Kind.IN_RING, slotBytes, 128).batchMax());
    }

    @ParameterizedTest
    @CsvSource({
        "1408, 64, 93, 'a whole batch at least'",
        "1408, 1024, 1024, 'never more than the ring'",
        "1408, 20000, 11915, '16 MiB are enough'",
        "65472, 1000, 256, '16 MiB are enough'",
    })
    void shouldHaveStagingSlotsForArrivalsAndCopies(
            final int slotBytes, final int ringSlots, final int stagingSlots, final String why) {
        assertEquals(stagingSlots, shape(Kind.STAGED, slotBytes, ringSlots).stagingSlots(), why);
        assertEquals(0, shape(Kind.IN_RING, slotBytes, ringSlots).stagingSlots());
        assertEquals(0, shape(Kind.BY_ARRIVAL, slotBytes, ringSlots).stagingSlots());
    }

    @ParameterizedTest
    @CsvSource({
        "1048576, 2",
        "2097152, 1",
        "2097153, 1",
        "100000000, 1",
        "131072, 16",
        "1000, 16",
        "199680, 10",
    })
    void shouldReassembleManyLaterFramesWhereTheyAreShort(final long frameMaxBytes, final int laterMax) {
        final MemoryShape shape = MemoryShape.of(stream(1024, frameMaxBytes), Kind.BY_ARRIVAL, 128, 16, false, 3);
        assertEquals(laterMax, shape.laterMax());
        // Those that the user holds, the one that it waits for, and later ones.
        assertEquals(3 + 1 + laterMax, shape.buffers());
    }

    @Test
    void shouldHaveOneBufferWhereOnlyTheRingsEndCutsFrames() {
        final MemoryShape shape = shape(Kind.IN_RING, 1024, 128);
        assertEquals(0, shape.laterMax());
        assertEquals(1, shape.buffers());
        assertEquals(shape.bufferBytes(), shape.buffersBytes());
        assertEquals(0, shape.tailBytes());
    }

    @Test
    void shouldHaveATailForTheLongestFrameWhereFramesAreCopiedToTheirPlaces() {
        final MemoryShape shape = shape(Kind.STAGED, 1024, 128);
        assertEquals(0, shape.laterMax());
        assertEquals(0, shape.buffersBytes());
        assertEquals(shape.bufferBytes(), shape.tailBytes());
    }

    @Test
    void shouldHaveMoreRepairSlotsWhereALaneHoldsPostedSlotsOnly() {
        assertEquals(128, shape(Kind.IN_RING, 1024, 128).repairSlots());
        assertEquals(128, shape(Kind.STAGED, 1024, 128).repairSlots());
        assertEquals(512, shape(Kind.BY_ARRIVAL, 1024, 128).repairSlots());
    }

    @Test
    void shouldHaveReadSlotsWhereRepairsAreRead() {
        final StreamInfo stream = stream(1024, 100_000);
        final MemoryShape reads = MemoryShape.of(stream, Kind.IN_RING, 128, 0, true, 2);
        assertEquals(ReadSlots.SLOTS, reads.readSlots());
        assertEquals(128 + ReadSlots.SLOTS, reads.allRepairSlots());
        final MemoryShape none = MemoryShape.of(stream, Kind.IN_RING, 128, 0, false, 2);
        assertEquals(0, none.readSlots());
        assertEquals(128, none.allRepairSlots());
    }

    @Test
    void shouldKnowItsLengthsInBytes() {
        final MemoryShape shape = MemoryShape.of(stream(1408, 2817), Kind.BY_ARRIVAL, 1 << 21, 64, false, 2);
        assertEquals(1408, shape.slotBytes());
        assertEquals(1408L << 21, shape.ringBytes());
        assertEquals(3 * 1408, shape.bufferBytes());
        assertEquals((2 + 1 + 16) * 3 * 1408, shape.buffersBytes());
        assertEquals(BundleLayout.tableBytes(1408 / 72 + 1), shape.bundleTableBytes());
        assertEquals(64, shape.spareSlots());
    }
}
