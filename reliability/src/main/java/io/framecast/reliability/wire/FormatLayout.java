package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;

/// FORMAT, source → group or receiver: the description of a stream's frames from a sequence on, under a number that
/// their data headers carry; FORMAT_ACK, receiver → source, says that it is known, or asks for one.
///
/// ```
///  40 firstSequence u64  48 serial u32 (from 1 on)  52 number u8 (1 … 15)  53 reserved u8  54 formatBytes u16  56
/// bytes …
///  FORMAT_ACK: 40 serial u32 that is known (0: none)  44 number u8 that is asked for (0: none)  45 reserved
/// ```
///
/// The bytes mean nothing to the protocol.
public final class FormatLayout {
    /// First sequence of the frames that have this format; formats of earlier frames may have had the same number.
    public static final LongField FIRST_SEQUENCE = new LongField(40);
    /// Formats of a session are counted.
    public static final IntField SERIAL = new IntField(48);
    public static final IntField NUMBER = new IntField(52, Byte.BYTES);
    static final IntField RESERVED = new IntField(53, Byte.BYTES);
    static final IntField FORMAT_BYTES = new IntField(54, Short.BYTES);
    static final int FORMAT = 56;

    public static final IntField KNOWN_SERIAL = new IntField(40);
    public static final IntField WANTED_NUMBER = new IntField(44);
    static final int ACK_LENGTH = 48;

    public static final int FORMAT_BYTES_MAX = 1024;
    /// Numbers are 1 … 15; 0 stands for frames without a format.
    public static final int NUMBERS = 15;

    private FormatLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        final int bytes = ControlLayout.DATAGRAM_BYTES.get(datagram, offset);
        if (bytes <= FORMAT) {
            return false;
        }
        final int number = NUMBER.get(datagram, offset);
        final int formatBytes = FORMAT_BYTES.get(datagram, offset);
        return bytes == FORMAT + formatBytes
                && formatBytes <= FORMAT_BYTES_MAX
                && number > 0
                && number <= NUMBERS
                && SERIAL.get(datagram, offset) > 0
                && FIRST_SEQUENCE.get(datagram, offset) >= 0;
    }

    public static boolean isValidAck(final MemorySegment datagram, final long offset) {
        return ControlLayout.DATAGRAM_BYTES.get(datagram, offset) == ACK_LENGTH
                && KNOWN_SERIAL.get(datagram, offset) >= 0
                && WANTED_NUMBER.get(datagram, offset) >= 0
                && WANTED_NUMBER.get(datagram, offset) <= NUMBERS;
    }

    /// Whether it asks for a format.
    public static boolean isRequest(final MemorySegment datagram, final long offset) {
        return isValidAck(datagram, offset) && WANTED_NUMBER.get(datagram, offset) != 0;
    }

    /// Allocates.
    public static byte[] format(final MemorySegment datagram, final long offset) {
        return Wire.bytes(datagram, offset + FORMAT, FORMAT_BYTES.get(datagram, offset));
    }

    public static int write(
            final ControlWriter out,
            final long firstSequence,
            final int serial,
            final int number,
            final byte[] format) {
        return out.begin(ControlLayout.TYPE_FORMAT, 0)
                .put(FIRST_SEQUENCE, firstSequence)
                .put(SERIAL, serial)
                .put(NUMBER, number)
                .put(RESERVED, 0)
                .put(FORMAT_BYTES, format.length)
                .put(FORMAT, format)
                .seal(FORMAT + format.length);
    }

    /// @param serial of a format that is known; 0 for none
    public static int writeAck(final ControlWriter out, final int serial) {
        return write(out, serial, 0);
    }

    /// @param number of a format that is asked for
    public static int writeRequest(final ControlWriter out, final int number) {
        return write(out, 0, number);
    }

    private static int write(final ControlWriter out, final int serial, final int number) {
        return out.begin(ControlLayout.TYPE_FORMAT_ACK, 0)
                .put(KNOWN_SERIAL, serial)
                .put(WANTED_NUMBER, number)
                .seal(ACK_LENGTH);
    }
}
