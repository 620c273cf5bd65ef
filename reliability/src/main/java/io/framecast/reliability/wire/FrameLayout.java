package io.framecast.reliability.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;

/// FRAME, source → group or receiver: the metadata of one frame; FRAME_REQUEST, receiver → source, asks for it
/// again.
///
/// ```
///  32 firstSequence u64 of the frame  40 metadataBytes u16 (FRAME only)  42 reserved u16  44 bytes …
/// ```
public final class FrameLayout {
    static final int FIRST_SEQUENCE = 32;
    static final int METADATA_BYTES = 40;
    static final int METADATA = 44;
    static final int REQUEST_LENGTH = 40;

    public static final int METADATA_BYTES_MAX = 1024;

    private FrameLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        final int bytes = ControlLayout.bytes(datagram, offset);
        if (bytes <= METADATA || firstSequence(datagram, offset) < 0) {
            return false;
        }
        final int metadataBytes = metadataBytes(datagram, offset);
        return metadataBytes <= METADATA_BYTES_MAX && bytes == METADATA + metadataBytes;
    }

    public static boolean isValidRequest(final MemorySegment datagram, final long offset) {
        return ControlLayout.bytes(datagram, offset) == REQUEST_LENGTH && firstSequence(datagram, offset) >= 0;
    }

    public static long firstSequence(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.LONG, offset + FIRST_SEQUENCE);
    }

    public static int metadataBytes(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.SHORT, offset + METADATA_BYTES) & 0xffff;
    }

    public static byte[] metadata(final MemorySegment datagram, final long offset) {
        final byte[] metadata = new byte[metadataBytes(datagram, offset)];
        MemorySegment.copy(datagram, JAVA_BYTE, offset + METADATA, metadata, 0, metadata.length);
        return metadata;
    }

    public static int write(
            final MemorySegment datagram,
            final ControlIds ids,
            final long firstSequence,
            final byte[] metadata,
            final HeaderChecksum checksum) {
        ControlLayout.begin(datagram, ControlLayout.TYPE_FRAME, 0, ids);
        datagram.set(Wire.LONG, FIRST_SEQUENCE, firstSequence);
        datagram.set(Wire.SHORT, METADATA_BYTES, (short) metadata.length);
        datagram.set(Wire.SHORT, METADATA_BYTES + 2, (short) 0);
        MemorySegment.copy(metadata, 0, datagram, JAVA_BYTE, METADATA, metadata.length);
        return ControlLayout.seal(datagram, METADATA + metadata.length, checksum);
    }

    public static int writeRequest(
            final MemorySegment datagram,
            final ControlIds ids,
            final long firstSequence,
            final HeaderChecksum checksum) {
        ControlLayout.begin(datagram, ControlLayout.TYPE_FRAME_REQUEST, 0, ids);
        datagram.set(Wire.LONG, FIRST_SEQUENCE, firstSequence);
        return ControlLayout.seal(datagram, REQUEST_LENGTH, checksum);
    }
}
