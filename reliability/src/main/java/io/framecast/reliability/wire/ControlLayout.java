package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// Common header of all datagrams on the control lane. Each type's body follows at offset 32.
///
/// ```
///  0       1       2               4                               8
/// +-------+-------+---------------+-------------------------------+
/// |ver typ| flags | length (u16)  |   crc32c of the whole datagram|
/// +-------+-------+---------------+-------------------------------+
/// |                     session nonce (u64)                       |
/// +---------------------------------------------------------------+
/// |      receiver id (u64) of the sender or of the destination;   |
/// |                0 from the source to the group                 |
/// +-------------------------------+-------------------------------+
/// |         epoch (u32)           |         reserved, 0           |
/// +-------------------------------+-------------------------------+
/// ```
public final class ControlLayout {
    public static final int LENGTH = 32;

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

    static final IntField VERSION_TYPE = new IntField(0, Byte.BYTES);
    public static final IntField FLAGS = new IntField(1, Byte.BYTES);
    public static final IntField DATAGRAM_BYTES = new IntField(2, Short.BYTES);
    static final IntField CHECKSUM = new IntField(4);
    public static final LongField SESSION = new LongField(8);
    public static final LongField RECEIVER = new LongField(16);
    public static final IntField EPOCH = new IntField(24);
    static final IntField RESERVED = new IntField(28);

    private ControlLayout() {}

    /// Checks the common fields: version, length, checksum. After [Verdict#GOOD] the fields of the type may be read,
    /// once the type's own `isValid` has accepted the datagram.
    public static Verdict check(
            final MemorySegment datagram, final long offset, final int bytes, final HeaderChecksum checksum) {
        if (bytes < LENGTH || bytes > Wire.CONTROL_BYTES_MAX) {
            return Verdict.BAD_LENGTH;
        }
        if (VERSION_TYPE.get(datagram, offset) >>> 4 != Wire.VERSION) {
            return Verdict.BAD_VERSION;
        }
        if (DATAGRAM_BYTES.get(datagram, offset) != bytes) {
            return Verdict.BAD_LENGTH;
        }
        return CHECKSUM.get(datagram, offset) == checksum.ofControl(datagram, offset, bytes)
                ? Verdict.GOOD
                : Verdict.BAD_CHECKSUM;
    }

    public static int type(final MemorySegment datagram, final long offset) {
        return VERSION_TYPE.get(datagram, offset) & 0xf;
    }
}
