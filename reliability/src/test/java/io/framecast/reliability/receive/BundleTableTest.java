package io.framecast.reliability.receive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.wire.BundleLayout;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class BundleTableTest {
    private static final long SESSION = 0x0fed_cba9_8765_4321L;
    private static final int SLOT_BYTES = 1408;
    private static final int FRAME_MAX = 1000;
    private static final long SEQUENCE = 77;

    private final StreamInfo stream =
            new StreamInfo(SESSION, "test", SLOT_BYTES, 64, FRAME_MAX, 1000, new byte[] {1}, new byte[] {2});
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final MemorySegment slot = MemorySegment.ofArray(new byte[SLOT_BYTES]);
    private final BundleTable table = new BundleTable(stream);
    private final ReceivedFrame frame = new ReceivedFrame();

    private void write(final int bytes, final long... entries) {
        final int at = bytes - BundleLayout.tableBytes(entries.length);
        for (int i = 0; i < entries.length; i++) {
            BundleLayout.write(slot, at, i, entries[i]);
        }
        seal(bytes, entries.length, SEQUENCE);
    }

    private void seal(final int bytes, final int frames, final long sequence) {
        final int at = bytes - BundleLayout.tableBytes(frames);
        BundleLayout.seal(slot, at, frames, checksum.ofBundle(slot, at, frames, SESSION, sequence));
    }

    private boolean open(final int bytes, final int frames) {
        frame.set(500, SEQUENCE, bytes, frames);
        frame.attributes(10_000, DataLayout.FLAG_BUNDLE, null);
        return table.open(slot, bytes, frame);
    }

    private void expect(final long id, final int offset, final int bytes, final long timestampNs) {
        final ReceivedFrame part = table.next();
        assertNotNull(part);
        assertEquals(id, part.frameId());
        assertEquals(SEQUENCE, part.firstSequence());
        assertEquals(offset, part.slotOffset());
        assertEquals(bytes, part.bytes());
        assertEquals(timestampNs, part.timestampNs());
        assertEquals(0, part.bundleFrames());
        assertNull(part.metadata());
    }

    @Test
    void shouldGiveEachFrameWithItsPlaceWhenTheTableIsGood() {
        write(
                300,
                BundleLayout.entry(64, DataLayout.FLAG_KEYFRAME, 0),
                BundleLayout.entry(65, 0, 1000),
                BundleLayout.entry(1, 0, -2000));
        assertTrue(open(300, 3));
        assertEquals(3, table.remaining());
        expect(500, 0, 64, 10_000);
        assertEquals(DataLayout.FLAG_KEYFRAME, frame.flags());
        assertFalse(frame.endsSlots());
        expect(501, 64, 65, 11_000);
        assertEquals(0, frame.flags());
        expect(502, 192, 1, 8_000);
        assertTrue(frame.endsSlots());
        assertNull(table.next());
    }

    @Test
    void shouldKeepItsCopyWhenTheSlotIsOverwrittenMeanwhile() {
        write(300, BundleLayout.entry(64, 0, 0), BundleLayout.entry(65, 0, 0));
        assertTrue(open(300, 2));
        expect(500, 0, 64, 10_000);
        slot.fill((byte) 0xff);
        expect(501, 64, 65, 10_000);
    }

    @Test
    void shouldRefuseWhenAnyBitOfTheTableIsDamaged() {
        write(300, BundleLayout.entry(64, 0, 0), BundleLayout.entry(65, 0, 5));
        for (int bit = 0; bit < BundleLayout.tableBytes(2) * 8; bit++) {
            final int at = 300 - BundleLayout.tableBytes(2) + bit / 8;
            final byte good = slot.get(ValueLayout.JAVA_BYTE, at);
            slot.set(ValueLayout.JAVA_BYTE, at, (byte) (good ^ 1 << bit % 8));
            assertFalse(open(300, 2), "bit " + bit);
            assertEquals(0, table.remaining());
            slot.set(ValueLayout.JAVA_BYTE, at, good);
        }
        assertTrue(open(300, 2));
    }

    @Test
    void shouldRefuseWhenTheTableIsOfAnotherDatagram() {
        write(300, BundleLayout.entry(64, 0, 0), BundleLayout.entry(65, 0, 5));
        seal(300, 2, SEQUENCE + 1);
        assertFalse(open(300, 2));
    }

    // The table has a valid checksum, as that of a hostile source would have.
    @ParameterizedTest
    @CsvSource({
        "0, 64, 'no frame'",
        "64, 0, 'no frame behind the first'",
        "64, 300, 'beyond the payload'",
        "65535, 1, 'beyond the slot'",
        "64, 205, 'into the table'",
    })
    void shouldRefuseWhenALengthCannotBe(final int first, final int second, final String what) {
        write(292, BundleLayout.entry(first, 0, 0), BundleLayout.entry(second, 0, 0));
        assertFalse(open(292, 2), what);
        assertNull(table.next());
    }

    @Test
    void shouldRefuseWhenAFrameIsLongerThanFrameMax() {
        write(1400, BundleLayout.entry(FRAME_MAX, 0, 0), BundleLayout.entry(64, 0, 0));
        assertTrue(open(1400, 2));
        write(1400, BundleLayout.entry(FRAME_MAX + 1, 0, 0), BundleLayout.entry(64, 0, 0));
        assertFalse(open(1400, 2));
    }

    @ParameterizedTest
    @ValueSource(longs = {1L << 24, 1L << 31, (long) DataLayout.FLAG_BUNDLE << 16})
    void shouldRefuseWhenAnEntrySaysWhatIsReserved(final long bits) {
        write(300, BundleLayout.entry(64, 0, 0), BundleLayout.entry(65, 0, 5) | bits);
        assertFalse(open(300, 2));
    }

    @Test
    void shouldNeverLeaveTheSlotWhateverATableSays() {
        final SplittableRandom random = new SplittableRandom(3);
        int good = 0;
        for (int i = 0; i < 200_000; i++) {
            final int frames = 2 + random.nextInt(18);
            final int bytes = BundleLayout.tableBytes(frames) + 64 * (frames - 1) + 1 + random.nextInt(16);
            final long[] entries = new long[frames];
            for (int e = 0; e < frames; e++) {
                entries[e] = random.nextInt(16) == 0 ? random.nextLong() : BundleLayout.entry(random.nextInt(70), 0, 0);
            }
            write(Math.min(bytes, SLOT_BYTES), entries);
            if (!open(Math.min(bytes, SLOT_BYTES), frames)) {
                continue;
            }
            good++;
            int end = 0;
            for (ReceivedFrame part = table.next(); part != null; part = table.next()) {
                assertTrue(part.slotOffset() >= end && part.bytes() > 0);
                end = part.slotOffset() + (int) part.bytes();
            }
            assertTrue(end <= bytes - BundleLayout.tableBytes(frames));
        }
        assertTrue(good > 100, "too few tables were good: " + good);
    }

    @ParameterizedTest
    @CsvSource({
        "2, 0, 152, GOOD",
        "19, 0, 1400, GOOD",
        "0, 0, 152, IMPOSSIBLE",
        "1, 0, 152, IMPOSSIBLE",
        "2, 1, 152, IMPOSSIBLE",
        "2, 0, 88, IMPOSSIBLE",
        "20, 0, 1400, GOOD",
        "21, 0, 1400, IMPOSSIBLE",
        "65, 0, 1400, IMPOSSIBLE",
        "65535, 0, 1400, IMPOSSIBLE",
    })
    void shouldJudgeTheHeaderOfABundle(final int frames, final int index, final int bytes, final Verdict verdict) {
        final MemorySegment header = MemorySegment.ofArray(new byte[DataLayout.LENGTH]);
        final DataHeader values = new DataHeader()
                .session(DataLayout.TYPE_DATA, SESSION)
                .frame(5, bytes, 0)
                .attributes(DataLayout.FLAG_BUNDLE, frames);
        DataLayout.write(header, 0, values, 100, index);
        checksum.seal(header, 0, SESSION);
        assertEquals(verdict, new HeaderCheck(stream).check(header, 0, DataLayout.LENGTH + bytes));
        assertEquals(Verdict.IMPOSSIBLE, new HeaderCheck(stream).check(header, 0, DataLayout.LENGTH + bytes - 1));
    }
}
