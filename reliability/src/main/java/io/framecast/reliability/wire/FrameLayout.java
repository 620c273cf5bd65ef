package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// FRAME, source → group or receiver: the metadata of one frame; FRAME_REQUEST, receiver → source, asks for it
/// again.
///
/// ```
///  40 firstSequence u64 of the frame  48 metadataBytes u16 (FRAME only)  50 reserved u16  52 bytes …
/// ```
public final class FrameLayout {
    public static final LongField FIRST_SEQUENCE = new LongField(40);
    public static final IntField METADATA_BYTES = new IntField(48, Short.BYTES);
    static final IntField RESERVED = new IntField(50, Short.BYTES);
    static final int METADATA = 52;
    static final int REQUEST_LENGTH = 48;

    public static final int METADATA_BYTES_MAX = 1024;

    private FrameLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        final int bytes = ControlLayout.DATAGRAM_BYTES.get(datagram, offset);
        if (bytes <= METADATA || FIRST_SEQUENCE.get(datagram, offset) < 0) {
            return false;
        }
        final int metadataBytes = METADATA_BYTES.get(datagram, offset);
        return metadataBytes <= METADATA_BYTES_MAX && bytes == METADATA + metadataBytes;
    }

    public static boolean isValidRequest(final MemorySegment datagram, final long offset) {
        return ControlLayout.DATAGRAM_BYTES.get(datagram, offset) == REQUEST_LENGTH
                && FIRST_SEQUENCE.get(datagram, offset) >= 0;
    }

    /// Allocates.
    public static byte[] metadata(final MemorySegment datagram, final long offset) {
        return Wire.bytes(datagram, offset + METADATA, METADATA_BYTES.get(datagram, offset));
    }

    public static int write(final ControlWriter out, final long firstSequence, final byte[] metadata) {
        return out.begin(ControlLayout.TYPE_FRAME, 0)
                .put(FIRST_SEQUENCE, firstSequence)
                .put(METADATA_BYTES, metadata.length)
                .put(RESERVED, 0)
                .put(METADATA, metadata)
                .seal(METADATA + metadata.length);
    }

    public static int writeRequest(final ControlWriter out, final long firstSequence) {
        return out.begin(ControlLayout.TYPE_FRAME_REQUEST, 0)
                .put(FIRST_SEQUENCE, firstSequence)
                .seal(REQUEST_LENGTH);
    }
}
