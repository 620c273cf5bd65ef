package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;

/// Headers that continue a checked one: the next datagrams of its frame, in order. They differ from it in sequence
/// and frame index only, and a CRC is linear: the checksum of each is the first one's, changed by the contribution
/// of the changed bytes alone. So each is checked as strictly as by [HeaderChecksum], session nonce included, by a
/// few table look-ups.
public final class HeaderRun {
    private static final int BYTE_VALUES = 256;
    private static final int[] SEQUENCE_TABLE = table(DataLayout.SEQUENCE.at(), Long.BYTES);
    private static final int[] INDEX_TABLE = table(DataLayout.FRAME_INDEX.at(), Integer.BYTES);

    private HeaderRun() {}

    // The change of the checksum by a difference of one byte at a position: `[bytes][256]`.
    private static int[] table(final int position, final int bytes) {
        final int[] table = new int[bytes * BYTE_VALUES];
        final int zero = checksum(new byte[DataLayout.LENGTH]);
        for (int i = 0; i < table.length; i++) {
            final byte[] header = new byte[DataLayout.LENGTH];
            header[position + i / BYTE_VALUES] = (byte) i;
            table[i] = checksum(header) ^ zero;
        }
        return table;
    }

    private static int checksum(final byte[] header) {
        final CRC32C crc = new CRC32C();
        crc.update(header, 0, header.length);
        return (int) crc.getValue();
    }

    private static int change(final int[] table, final long difference) {
        int change = 0;
        int row = 0;
        for (long rest = difference; rest != 0; rest >>>= Byte.SIZE) {
            change ^= table[row + (int) (rest & (BYTE_VALUES - 1))];
            row += BYTE_VALUES;
        }
        return change;
    }

    /// Number of next headers that continue the one at `offset`.
    ///
    /// @param headers headers of consecutive slots, `stride` bytes apart, at least `max` behind the first
    public static int length(final MemorySegment headers, final long offset, final int stride, final int max) {
        final long first = Wire.getLong(headers, offset);
        final long tagAndFrame = Wire.getLong(headers, offset + DataLayout.SESSION_TAG.at());
        final long sequence = DataLayout.SEQUENCE.get(headers, offset);
        final long timestamp = DataLayout.TIMESTAMP.get(headers, offset);
        final int frameBytes = DataLayout.FRAME_BYTES.get(headers, offset);
        final int index = DataLayout.FRAME_INDEX.get(headers, offset);
        int run = 0;
        long at = offset + stride;
        while (run < max) {
            final long nextSequence = sequence + run + 1;
            final int nextIndex = index + run + 1;
            final int change = change(SEQUENCE_TABLE, nextSequence ^ sequence)
                    ^ change(INDEX_TABLE, Integer.toUnsignedLong(nextIndex ^ index));
            if (Wire.getLong(headers, at) != (first ^ ((long) change << Integer.SIZE))
                    || Wire.getLong(headers, at + DataLayout.SESSION_TAG.at()) != tagAndFrame
                    || DataLayout.SEQUENCE.get(headers, at) != nextSequence
                    || DataLayout.TIMESTAMP.get(headers, at) != timestamp
                    || DataLayout.FRAME_BYTES.get(headers, at) != frameBytes
                    || DataLayout.FRAME_INDEX.get(headers, at) != nextIndex) {
                break;
            }
            run++;
            at += stride;
        }
        return run;
    }

    /// Writes the headers of the next datagrams of a frame, sealed like the one at `offset`.
    ///
    /// @param headers room for `count` headers behind the first, `stride` bytes apart
    public static void write(final MemorySegment headers, final long offset, final int stride, final int count) {
        final long first = Wire.getLong(headers, offset);
        final long tagAndFrame = Wire.getLong(headers, offset + DataLayout.SESSION_TAG.at());
        final long sequence = DataLayout.SEQUENCE.get(headers, offset);
        final long timestamp = DataLayout.TIMESTAMP.get(headers, offset);
        final long frameBytes = DataLayout.FRAME_BYTES.unsigned(headers, offset);
        final int index = DataLayout.FRAME_INDEX.get(headers, offset);
        long at = offset;
        for (int i = 1; i <= count; i++) {
            at += stride;
            final int change = change(SEQUENCE_TABLE, (sequence + i) ^ sequence)
                    ^ change(INDEX_TABLE, Integer.toUnsignedLong((index + i) ^ index));
            Wire.setLong(headers, at, first ^ ((long) change << Integer.SIZE));
            Wire.setLong(headers, at + DataLayout.SESSION_TAG.at(), tagAndFrame);
            DataLayout.SEQUENCE.set(headers, at, sequence + i);
            DataLayout.TIMESTAMP.set(headers, at, timestamp);
            Wire.setLong(headers, at + DataLayout.FRAME_BYTES.at(), frameBytes | ((long) (index + i) << Integer.SIZE));
        }
    }
}
