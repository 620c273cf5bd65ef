package io.framecast.perf.chaos;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32C;

/// Frames whose every byte, and whose length, follows from a seed and the frame's number, so that any process
/// can say what any of them must be. Most are of full length and carry number, length and CRC32C as metadata;
/// one of [#SMALL_EVERY] is small and has none, so that it may share a datagram.
///
/// @param frameBytes longest frame, at least [#BYTES_MIN]
record ChaosFrames(long seed, int frameBytes) {
    static final int BYTES_MIN = 1_024;
    static final int SMALL_EVERY = 7;
    private static final int SMALL_BYTES_MIN = 16;
    private static final int SMALL_BYTES_MAX = 600;
    private static final int METADATA_BYTES = 16;
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;

    private static long mix(final long value) {
        long z = value * GOLDEN;
        z = (z ^ (z >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D0_49BB_1331_11EBL;
        return z ^ (z >>> 31);
    }

    private long keyOf(final long frameId) {
        return mix(seed ^ mix(frameId + 1));
    }

    /// A frame's length.
    int bytes(final long frameId) {
        final long key = keyOf(frameId) >>> 1;
        return frameId % SMALL_EVERY == SMALL_EVERY - 1
                ? (int) (SMALL_BYTES_MIN + key % (SMALL_BYTES_MAX - SMALL_BYTES_MIN + 1))
                : (int) (frameBytes - key % (frameBytes / 4));
    }

    /// Writes a frame's bytes.
    ///
    /// @param frame as long as [#bytes] says
    void fill(final MemorySegment frame, final long frameId) {
        final long key = keyOf(frameId);
        final long words = frame.byteSize() / Long.BYTES;
        for (long i = 0; i < words; i++) {
            frame.set(WORD, i * Long.BYTES, mix(key + i));
        }
        for (long at = words * Long.BYTES; at < frame.byteSize(); at++) {
            frame.set(ValueLayout.JAVA_BYTE, at, (byte) (key >>> (at % Long.BYTES * Byte.SIZE)));
        }
    }

    /// The metadata of a frame that [#fill] wrote; empty for small ones.
    byte[] metadata(final MemorySegment frame, final long frameId) {
        if (frameId % SMALL_EVERY == SMALL_EVERY - 1) {
            return new byte[0];
        }
        return ByteBuffer.allocate(METADATA_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(frameId)
                .putInt((int) frame.byteSize())
                .putInt(crc(frame))
                .array();
    }

    private static int crc(final MemorySegment frame) {
        final CRC32C crc = new CRC32C();
        crc.update(frame.asByteBuffer());
        return (int) crc.getValue();
    }

    /// The fault of a frame that arrived; empty when it equals the published one.
    String complaint(final long frameId, final MemorySegment frame, final byte[] metadata) {
        if (frame.byteSize() != bytes(frameId)) {
            return "frame " + frameId + " has " + frame.byteSize() + " bytes, expected " + bytes(frameId);
        }
        final byte[] expected = metadata(frame, frameId);
        if (!Arrays.equals(metadata, expected)) {
            return "frame " + frameId + " and its metadata (number, length, CRC32C) do not agree";
        }
        final MemorySegment same = MemorySegment.ofArray(new byte[(int) frame.byteSize()]);
        fill(same, frameId);
        final long at = same.mismatch(frame);
        return at < 0 ? "" : "frame " + frameId + " differs at byte " + at;
    }
}
