package io.framecast.reliability.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;

/// Header of every datagram on the data and repair lanes; the payload slice follows.
///
/// ```
///  0       1       2               4                               8
/// +-------+-------+---------------+-------------------------------+
/// |ver typ| flags | metadataBytes |         headerCrc32c          |
/// +-------+-------+---------------+-------------------------------+
/// |      sessionTag (u32)         |         frameId (u32)         |
/// +-------------------------------+-------------------------------+
/// |                       sequence (u64)                          |
/// +---------------------------------------------------------------+
/// |                  sourceTimestampNs (i64)                      |
/// +-------------------------------+-------------------------------+
/// |      frameBytes (u32)         |        frameIndex (u32)       |
/// +-------------------------------+-------------------------------+
/// ```
///
/// The session nonce has 64 bits; its low half is sent as `sessionTag`, its high half stands in the checksum's
/// place while the checksum is computed. A datagram of another session thus fails one of the two, and the header
/// stays at 40 bytes: 2.8 % of a 1408-byte payload, where 44 would leave nothing of the 3 % overhead goal for
/// control. `frameId` is the frame's number modulo 2^32; `frameIndex` counts this frame's datagrams, so the frame
/// begins at sequence − frameIndex and this payload at frameIndex × slotBytes.
public final class DataLayout {
    public static final int LENGTH = 40;
    /// First-time data and its retransmissions, which differ only in their lane.
    public static final int TYPE_DATA = 1;
    /// A full-size datagram without a place in the sequence, that proves the path to a joining receiver.
    public static final int TYPE_PROBE = 2;
    public static final int FLAG_KEYFRAME = 1;
    /// The datagram carries several frames, see [BundleLayout]; the metadata's length is their number.
    public static final int FLAG_BUNDLE = 2;

    static final int VERSION_TYPE = 0;
    static final int FLAGS = 1;
    static final int METADATA_BYTES = 2;
    static final int CHECKSUM = 4;
    static final int SESSION_TAG = 8;
    static final int FRAME_ID = 12;
    static final int SEQUENCE = 16;
    static final int TIMESTAMP = 24;
    static final int FRAME_BYTES = 32;
    static final int FRAME_INDEX = 36;

    private DataLayout() {}

    /// The type, or −1 when the version is not ours.
    public static int type(final MemorySegment header, final long offset) {
        final int versionType = header.get(JAVA_BYTE, offset) & 0xff;
        return versionType >>> 4 == Wire.VERSION ? versionType & 0xf : -1;
    }

    public static int flags(final MemorySegment header, final long offset) {
        return header.get(JAVA_BYTE, offset + FLAGS) & 0xff;
    }

    public static int metadataBytes(final MemorySegment header, final long offset) {
        return header.get(Wire.SHORT, offset + METADATA_BYTES) & 0xffff;
    }

    public static boolean isBundle(final MemorySegment header, final long offset) {
        return (header.get(JAVA_BYTE, offset + FLAGS) & FLAG_BUNDLE) != 0;
    }

    /// Frames of a bundle.
    public static int bundleFrames(final MemorySegment header, final long offset) {
        return metadataBytes(header, offset);
    }

    public static int checksum(final MemorySegment header, final long offset) {
        return header.get(Wire.INT, offset + CHECKSUM);
    }

    public static int sessionTag(final MemorySegment header, final long offset) {
        return header.get(Wire.INT, offset + SESSION_TAG);
    }

    public static int frameId(final MemorySegment header, final long offset) {
        return header.get(Wire.INT, offset + FRAME_ID);
    }

    public static long sequence(final MemorySegment header, final long offset) {
        return header.get(Wire.LONG, offset + SEQUENCE);
    }

    public static long timestampNs(final MemorySegment header, final long offset) {
        return header.get(Wire.LONG, offset + TIMESTAMP);
    }

    public static long frameBytes(final MemorySegment header, final long offset) {
        return Integer.toUnsignedLong(header.get(Wire.INT, offset + FRAME_BYTES));
    }

    public static long frameIndex(final MemorySegment header, final long offset) {
        return Integer.toUnsignedLong(header.get(Wire.INT, offset + FRAME_INDEX));
    }

    /// Length of the whole datagram, by its header; 0 when none can be that long. For callers that have no length
    /// of arrival.
    public static int datagramBytes(final MemorySegment header, final long offset, final int slotBytes) {
        final long behind = isBundle(header, offset) ? 0 : frameIndex(header, offset) * slotBytes;
        final long payloadBytes = frameBytes(header, offset) - behind;
        return payloadBytes <= 0 ? 0 : LENGTH + (int) Math.min(payloadBytes, slotBytes);
    }

    /// The bare session tag, for tests that forge headers.
    public static int sessionTag(final long session) {
        return (int) session;
    }

    /// Writes a header but for its checksum, which [HeaderChecksum#seal] adds.
    public static void write(
            final MemorySegment header,
            final long offset,
            final DataHeader values,
            final long sequence,
            final long frameIndex) {
        header.set(JAVA_BYTE, offset, Wire.versionAndType(values.type()));
        header.set(JAVA_BYTE, offset + FLAGS, (byte) values.flags());
        header.set(Wire.SHORT, offset + METADATA_BYTES, (short) values.metadataBytes());
        header.set(Wire.INT, offset + SESSION_TAG, sessionTag(values.session()));
        header.set(Wire.INT, offset + FRAME_ID, (int) values.frameId());
        header.set(Wire.LONG, offset + SEQUENCE, sequence);
        header.set(Wire.LONG, offset + TIMESTAMP, values.timestampNs());
        header.set(Wire.INT, offset + FRAME_BYTES, (int) values.frameBytes());
        header.set(Wire.INT, offset + FRAME_INDEX, (int) frameIndex);
    }
}
