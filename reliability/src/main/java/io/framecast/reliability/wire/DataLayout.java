package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// Header of every datagram on the data and repair lanes; the payload slice follows.
///
/// ```
///  0       1       2               4                               8
/// +-------+-------+---------------+-------------------------------+
/// |ver typ|fmt flg| metadataBytes |         headerCrc32c          |
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
    /// Length of a header with a seal behind it: key epoch u32, 4 reserved, tag 16.
    public static final int SEALED_LENGTH = 64;
    /// First-time data and its retransmissions, which differ only in their lane.
    public static final int TYPE_DATA = 1;
    /// A full-size datagram without a place in the sequence, that proves the path to a joining receiver.
    public static final int TYPE_PROBE = 2;
    public static final int FLAG_KEYFRAME = 1;
    /// The datagram carries several frames, see [BundleLayout]; the metadata's length is their number.
    public static final int FLAG_BUNDLE = 2;
    /// The source sends the payload from elsewhere than its window: a reader of the window must not take it
    /// from there.
    public static final int FLAG_GATHERED = 4;
    /// The first frame of its format: other frames may have had another one under its number.
    public static final int FLAG_NEW_FORMAT = 8;

    /// Low half of the number of the epoch whose key sealed the datagram, where headers have a seal.
    public static final IntField KEY_EPOCH = new IntField(40);
    static final IntField SEAL_RESERVED = new IntField(44);
    /// Offset of the tag, 16 bytes: it is over the bytes in front of it, and with a cipher over the payload.
    public static final int TAG = 48;

    static final IntField VERSION_TYPE = new IntField(0, Byte.BYTES);
    // The number of the frame's format in the high half.
    static final IntField FORMAT_FLAGS = new IntField(1, Byte.BYTES);
    public static final IntField METADATA_BYTES = new IntField(2, Short.BYTES);
    static final IntField CHECKSUM = new IntField(4);
    public static final IntField SESSION_TAG = new IntField(8);
    public static final IntField FRAME_ID = new IntField(12);
    public static final LongField SEQUENCE = new LongField(16);
    public static final LongField TIMESTAMP = new LongField(24);
    /// Unsigned.
    public static final IntField FRAME_BYTES = new IntField(32);
    /// Unsigned.
    public static final IntField FRAME_INDEX = new IntField(36);

    private DataLayout() {}

    /// The type, or −1 when the version is not ours.
    public static int type(final MemorySegment header, final long offset) {
        final int versionType = VERSION_TYPE.get(header, offset);
        return versionType >>> 4 == Wire.VERSION ? versionType & 0xf : -1;
    }

    public static int flags(final MemorySegment header, final long offset) {
        return FORMAT_FLAGS.get(header, offset) & 0xf;
    }

    /// Number of the frame's format; 0: none.
    public static int format(final MemorySegment header, final long offset) {
        return FORMAT_FLAGS.get(header, offset) >>> 4;
    }

    /// Fields that all datagrams of a frame share beside numbers, lengths and time: metadata's length, format, flags.
    public static int attributes(final MemorySegment header, final long offset) {
        return METADATA_BYTES.get(header, offset) << 8 | FORMAT_FLAGS.get(header, offset);
    }

    public static boolean isBundle(final MemorySegment header, final long offset) {
        return (FORMAT_FLAGS.get(header, offset) & FLAG_BUNDLE) != 0;
    }

    public static boolean isGathered(final MemorySegment header, final long offset) {
        return (FORMAT_FLAGS.get(header, offset) & FLAG_GATHERED) != 0;
    }

    /// Frames of a bundle.
    public static int bundleFrames(final MemorySegment header, final long offset) {
        return METADATA_BYTES.get(header, offset);
    }

    /// Length of the whole datagram, by its header; 0 when none can be that long. For callers that have no length
    /// of arrival.
    public static int datagramBytes(
            final MemorySegment header, final long offset, final int headerBytes, final int slotBytes) {
        final long behind = isBundle(header, offset) ? 0 : FRAME_INDEX.unsigned(header, offset) * slotBytes;
        final long payloadBytes = FRAME_BYTES.unsigned(header, offset) - behind;
        return payloadBytes <= 0 ? 0 : headerBytes + (int) Math.min(payloadBytes, slotBytes);
    }

    /// Writes the bytes that a seal has before its tag.
    public static void writeEpoch(final MemorySegment header, final long offset, final int epoch) {
        KEY_EPOCH.set(header, offset, epoch);
        SEAL_RESERVED.set(header, offset, 0);
    }

    /// The part of a session's nonce that headers carry.
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
        VERSION_TYPE.set(header, offset, Wire.versionAndType(values.type));
        FORMAT_FLAGS.set(header, offset, values.format << 4 | values.flags);
        METADATA_BYTES.set(header, offset, values.metadataBytes);
        SESSION_TAG.set(header, offset, sessionTag(values.session));
        FRAME_ID.set(header, offset, (int) values.frameId);
        SEQUENCE.set(header, offset, sequence);
        TIMESTAMP.set(header, offset, values.timestampNs);
        FRAME_BYTES.set(header, offset, (int) values.frameBytes);
        FRAME_INDEX.set(header, offset, (int) frameIndex);
    }
}
