package io.framecast.samples;

import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;

/// CRC32C over the payload bytes of a stream, in publishing order.
public final class FrameChecksum {
    /// ByteBuffers end at 2 GiB, frames at 4.
    private static final long PART_BYTES_MAX = 1L << 30;

    private final CRC32C crc = new CRC32C();

    public void update(final MemorySegment frame) {
        for (long at = 0; at < frame.byteSize(); at += PART_BYTES_MAX) {
            final long part = Math.min(PART_BYTES_MAX, frame.byteSize() - at);
            crc.update(frame.asSlice(at, part).asByteBuffer());
        }
    }

    /// Eight hex digits.
    public String hex() {
        return java.util.HexFormat.of().toHexDigits((int) crc.getValue());
    }
}
