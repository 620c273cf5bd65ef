package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// Common header of all datagrams on the control lane. Each type's body follows at offset 40.
///
/// ```
///  0       1       2               4                               8
/// +-------+-------+---------------+-------------------------------+
/// |ver  3 | type  | length (u16)  |   crc32c of the whole datagram|
/// +-------+-------+---------------+-------------------------------+
/// |                     session nonce (u64)                       |
/// +---------------------------------------------------------------+
/// |      receiver id (u64) of the sender or of the destination;   |
/// |                0 from the source to the group                 |
/// +-------------------------------+-------------------------------+
/// |         epoch (u32)           | flags |tagBytes| keyEpoch u16|
/// +-------------------------------+-------------------------------+
/// |     counter (u64) of the sender's datagrams on this lane      |
/// +---------------------------------------------------------------+
/// ```
public final class ControlLayout {
    public static final int LENGTH = 40;
    /// No body reaches beyond: the sender's id and an authentication tag have room behind it.
    public static final int BODY_END_MAX = Wire.CONTROL_BYTES_MAX - 24;

    public static final int TYPE_HEARTBEAT = 1;
    public static final int TYPE_JOIN = 2;
    public static final int TYPE_ADMIT = 3;
    public static final int TYPE_READY = 4;
    public static final int TYPE_START = 5;
    public static final int TYPE_ACK = 6;
    public static final int TYPE_NACK = 7;
    public static final int TYPE_FRAME = 8;
    public static final int TYPE_FRAME_REQUEST = 9;
    public static final int TYPE_LEAVE = 10;
    public static final int TYPE_EVICT = 11;
    public static final int TYPE_ASSIGN = 12;
    public static final int TYPE_REPAIR_GROUP = 13;
    public static final int TYPE_RC_CONNECT = 14;
    public static final int TYPE_SOLICIT = 15;
    public static final int TYPE_POLICY = 16;
    public static final int TYPE_RESUME = 17;
    public static final int TYPE_FORMAT = 18;
    public static final int TYPE_FORMAT_ACK = 19;
    public static final int TYPE_HELLO = 20;
    public static final int TYPE_COOKIE = 21;
    public static final int TYPE_PROOF = 22;
    public static final int TYPE_ANSWER = 23;
    public static final int TYPE_KEYS = 24;
    public static final int TYPE_KEYS_ACK = 25;

    // In the place of a data header's type, so that no datagram is taken for another lane's.
    private static final int KIND = 3;
    private static final int V1_LENGTH = 32;

    static final IntField VERSION_KIND = new IntField(0, Byte.BYTES);
    static final IntField TYPE = new IntField(1, Byte.BYTES);
    public static final IntField DATAGRAM_BYTES = new IntField(2, Short.BYTES);
    public static final IntField CHECKSUM = new IntField(4);
    public static final LongField SESSION = new LongField(8);
    public static final LongField RECEIVER = new LongField(16);
    public static final IntField EPOCH = new IntField(24);
    public static final IntField FLAGS = new IntField(28, Byte.BYTES);
    /// Length of the bytes behind the body: 0, or of a sealed datagram its tag, with the sender's id before the tag.
    public static final IntField TAG_BYTES = new IntField(29, Byte.BYTES);
    /// Low half of the epoch of the key that sealed the datagram; 0 for none, and for the key of a pair.
    public static final IntField KEY_EPOCH = new IntField(30, Short.BYTES);
    public static final LongField COUNTER = new LongField(32);

    private ControlLayout() {}

    /// Checks the common fields: version, length, checksum. After [Verdict#GOOD] the fields of the type may be read,
    /// once the type's own `isValid` has accepted the datagram.
    public static Verdict check(
            final MemorySegment datagram, final long offset, final int bytes, final HeaderChecksum checksum) {
        final Verdict common = checkSealed(datagram, offset, bytes, checksum);
        return common == Verdict.GOOD && TAG_BYTES.get(datagram, offset) != 0 ? Verdict.BAD_LENGTH : common;
    }

    /// As [#check], of a datagram that may be sealed.
    public static Verdict checkSealed(
            final MemorySegment datagram, final long offset, final int bytes, final HeaderChecksum checksum) {
        if (bytes < LENGTH || bytes > Wire.CONTROL_BYTES_MAX) {
            return Verdict.BAD_LENGTH;
        }
        final int versionKind = VERSION_KIND.get(datagram, offset);
        if (versionKind >>> 4 != Wire.VERSION) {
            return Verdict.BAD_VERSION;
        }
        if (versionKind != Wire.versionAndType(KIND)) {
            return Verdict.BAD_TYPE;
        }
        if (DATAGRAM_BYTES.get(datagram, offset) != bytes) {
            return Verdict.BAD_LENGTH;
        }
        return CHECKSUM.get(datagram, offset) == checksum.ofControl(datagram, offset, bytes)
                ? Verdict.GOOD
                : Verdict.BAD_CHECKSUM;
    }

    /// Whether it is a datagram of this version with an authentication tag.
    public static boolean isSealed(final MemorySegment datagram, final long offset, final int bytes) {
        return bytes > LENGTH
                && VERSION_KIND.get(datagram, offset) == Wire.versionAndType(KIND)
                && DATAGRAM_BYTES.get(datagram, offset) == bytes
                && TAG_BYTES.get(datagram, offset) != 0;
    }

    /// The version of a control datagram that belongs to another version of the protocol; 0 for any other datagram.
    /// Length and checksum have had their places since version 1.
    public static int otherVersion(
            final MemorySegment datagram, final long offset, final int bytes, final HeaderChecksum checksum) {
        if (bytes < V1_LENGTH || bytes > Wire.CONTROL_BYTES_MAX || DATAGRAM_BYTES.get(datagram, offset) != bytes) {
            return 0;
        }
        final int version = VERSION_KIND.get(datagram, offset) >>> 4;
        return version != Wire.VERSION && CHECKSUM.get(datagram, offset) == checksum.ofControl(datagram, offset, bytes)
                ? version
                : 0;
    }

    /// Writes version and type of a datagram that is not sealed.
    public static void begin(final MemorySegment datagram, final int type) {
        VERSION_KIND.set(datagram, 0, Wire.versionAndType(KIND));
        TYPE.set(datagram, 0, type);
        TAG_BYTES.set(datagram, 0, 0);
        KEY_EPOCH.set(datagram, 0, 0);
    }

    public static int type(final MemorySegment datagram, final long offset) {
        return TYPE.get(datagram, offset);
    }
}
