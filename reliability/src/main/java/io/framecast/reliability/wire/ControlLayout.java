package io.framecast.reliability.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

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

    static final int VERSION_TYPE = 0;
    static final int FLAGS = 1;
    static final int DATAGRAM_BYTES = 2;
    static final int CHECKSUM = 4;
    static final int SESSION = 8;
    static final int RECEIVER = 16;
    static final int EPOCH = 24;

    private ControlLayout() {}

    /// Checks the common fields: version, length, checksum. After [Verdict#GOOD] the accessors of the type may be
    /// used, once the type's own `isValid` has accepted the datagram.
    public static Verdict check(
            final MemorySegment datagram, final long offset, final int bytes, final HeaderChecksum checksum) {
        if (bytes < LENGTH || bytes > Wire.CONTROL_BYTES_MAX) {
            return Verdict.BAD_LENGTH;
        }
        if ((datagram.get(JAVA_BYTE, offset) & 0xff) >>> 4 != Wire.VERSION) {
            return Verdict.BAD_VERSION;
        }
        if ((datagram.get(Wire.SHORT, offset + DATAGRAM_BYTES) & 0xffff) != bytes) {
            return Verdict.BAD_LENGTH;
        }
        return datagram.get(Wire.INT, offset + CHECKSUM) == checksum.ofControl(datagram, offset, bytes)
                ? Verdict.GOOD
                : Verdict.BAD_CHECKSUM;
    }

    public static int type(final MemorySegment datagram, final long offset) {
        return datagram.get(JAVA_BYTE, offset) & 0xf;
    }

    public static int flags(final MemorySegment datagram, final long offset) {
        return datagram.get(JAVA_BYTE, offset + FLAGS) & 0xff;
    }

    public static int bytes(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.SHORT, offset + DATAGRAM_BYTES) & 0xffff;
    }

    public static long session(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.LONG, offset + SESSION);
    }

    public static long receiver(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.LONG, offset + RECEIVER);
    }

    public static int epoch(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.INT, offset + EPOCH);
    }

    /// Begins a datagram at offset 0; [#seal] ends it.
    static void begin(final MemorySegment datagram, final int type, final int flags, final ControlIds ids) {
        datagram.set(JAVA_BYTE, VERSION_TYPE, Wire.versionAndType(type));
        datagram.set(JAVA_BYTE, FLAGS, (byte) flags);
        datagram.set(Wire.LONG, SESSION, ids.session());
        datagram.set(Wire.LONG, RECEIVER, ids.receiver());
        datagram.set(Wire.INT, EPOCH, ids.epoch());
        datagram.set(Wire.INT, EPOCH + 4, 0);
    }

    /// Writes length and checksum.
    ///
    /// @return `length`
    static int seal(final MemorySegment datagram, final int length, final HeaderChecksum checksum) {
        datagram.set(Wire.SHORT, DATAGRAM_BYTES, (short) length);
        datagram.set(Wire.INT, CHECKSUM, checksum.ofControl(datagram, 0, length));
        return length;
    }
}
