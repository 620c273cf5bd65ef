package io.framecast.reliability.wire;

import io.framecast.reliability.memory.Words;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/// CRC32C of headers and control datagrams (RFC 3720 appendix B.4 polynomial). Owns scratch memory: one per
/// thread.
public final class HeaderChecksum {
    private final CRC32C crc = new CRC32C();
    private final byte[] scratch = new byte[Wire.CONTROL_BYTES_MAX];
    private final ByteBuffer scratchView = ByteBuffer.wrap(scratch).order(ByteOrder.LITTLE_ENDIAN);

    /// Checksum of a data header, with the high half of the session nonce in the checksum's place.
    public int ofData(final MemorySegment header, final long offset, final long session) {
        Words.copy(header, offset, scratch, 0, DataLayout.LENGTH);
        scratchView.putInt(DataLayout.CHECKSUM.at(), (int) (session >>> 32));
        crc.reset();
        crc.update(scratch, 0, DataLayout.LENGTH);
        return (int) crc.getValue();
    }

    /// Writes the checksum into a data header.
    public void seal(final MemorySegment header, final long offset, final long session) {
        DataLayout.CHECKSUM.set(header, offset, ofData(header, offset, session));
    }

    public boolean isSealed(final MemorySegment header, final long offset, final long session) {
        return DataLayout.CHECKSUM.get(header, offset) == ofData(header, offset, session);
    }

    /// Checksum of a bundle's entries, bound to their datagram.
    ///
    /// @param offset of the first entry
    /// @param frames at most [BundleLayout#FRAMES_MAX]
    public int ofBundle(
            final MemorySegment memory, final long offset, final int frames, final long session, final long sequence) {
        final int bytes = frames * BundleLayout.ENTRY_BYTES;
        scratchView.putLong(0, session);
        scratchView.putLong(Long.BYTES, sequence);
        Words.copy(memory, offset, scratch, 2 * Long.BYTES, bytes);
        crc.reset();
        crc.update(scratch, 0, 2 * Long.BYTES + bytes);
        return (int) crc.getValue();
    }

    /// Checksum of a whole control datagram, with zero in the checksum's place.
    public int ofControl(final MemorySegment datagram, final long offset, final int length) {
        Words.copy(datagram, offset, scratch, 0, length);
        scratchView.putInt(ControlLayout.CHECKSUM.at(), 0);
        crc.reset();
        crc.update(scratch, 0, length);
        return (int) crc.getValue();
    }
}
