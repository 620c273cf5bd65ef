package io.framecast.reliability.window;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.wire.BundleLayout;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// A send window with payload memory, a publisher's thread that fills it and a reader of its committed datagrams.
final class BundleFixture {
    static final long SESSION = 0x1234_5678_9abc_def0L;

    /// One frame as a datagram carries it.
    record Frame(long id, int flags, long timestampNs, byte[] bytes) {}

    final int slotBytes;
    final MemorySegment headers;
    final MemorySegment payload;
    final int[] lengths;
    final SendWindow window;
    final SmallFrames small;
    private final HeaderChecksum checksum = new HeaderChecksum();

    BundleFixture(final int slots, final int slotBytes) {
        this.slotBytes = slotBytes;
        headers = MemorySegment.ofArray(new byte[slots * DataLayout.LENGTH]);
        payload = MemorySegment.ofArray(new byte[slots * slotBytes]);
        lengths = new int[slots];
        window = new SendWindow(new WindowMemory(headers, payload, lengths, slots, slotBytes), SESSION);
        small = window.bundle();
    }

    /// The bytes of a frame, different from those of any other.
    static byte[] content(final long number, final int bytes) {
        final byte[] content = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            content[i] = (byte) (number * 31 + i * 7L + (number >>> 8));
        }
        return content;
    }

    /// Claims and fills, and commits nothing yet.
    boolean claim(final long number, final int bytes) {
        final long at = small.claim(bytes);
        if (at == SmallFrames.NO_ROOM) {
            return false;
        }
        MemorySegment.copy(content(number, bytes), 0, payload, JAVA_BYTE, at, bytes);
        return true;
    }

    boolean publish(final long number, final int bytes, final long timestampNs) {
        if (!claim(number, bytes)) {
            return false;
        }
        small.commit(0, timestampNs);
        return true;
    }

    /// The frames of a committed sequence, with all their fields checked.
    List<Frame> frames(final long sequence) {
        final int slot = window.slot(sequence);
        final long header = (long) slot * DataLayout.LENGTH;
        final long at = (long) slot * slotBytes;
        assertTrue(checksum.isSealed(headers, header, SESSION));
        assertEquals(sequence, DataLayout.SEQUENCE.get(headers, header));
        assertEquals(0, DataLayout.FRAME_INDEX.unsigned(headers, header));
        assertEquals(lengths[slot], DataLayout.FRAME_BYTES.unsigned(headers, header));
        assertTrue(lengths[slot] <= slotBytes);
        final long id = DataLayout.FRAME_ID.get(headers, header);
        final long timestampNs = DataLayout.TIMESTAMP.get(headers, header);
        final List<Frame> frames = new ArrayList<>();
        if (!DataLayout.isBundle(headers, header)) {
            final byte[] bytes = payload.asSlice(at, lengths[slot]).toArray(JAVA_BYTE);
            frames.add(new Frame(id, DataLayout.flags(headers, header), timestampNs, bytes));
            return frames;
        }
        final int count = DataLayout.bundleFrames(headers, header);
        final long table = at + lengths[slot] - BundleLayout.tableBytes(count);
        assertTrue(BundleLayout.isSealed(
                payload, table, count, checksum.ofBundle(payload, table, count, SESSION, sequence)));
        int offset = 0;
        for (int i = 0; i < count; i++) {
            final long entry = BundleLayout.entry(payload, table, i);
            assertTrue(BundleLayout.isPossible(entry));
            final byte[] bytes =
                    payload.asSlice(at + offset, BundleLayout.bytes(entry)).toArray(JAVA_BYTE);
            frames.add(new Frame(id + i, BundleLayout.flags(entry), timestampNs + BundleLayout.deltaNs(entry), bytes));
            offset = BundleLayout.align(offset + bytes.length);
            assertTrue(offset - BundleLayout.ALIGN_BYTES < table - at);
        }
        return frames;
    }
}
