package io.framecast.reliability.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/// HEARTBEAT, source → group (receiver 0) or one receiver: announces the stream. It carries the highest sequence,
/// so that receivers notice lost tails, and the source's time, which ACKs echo for the round-trip time.
///
/// ```
///  32 nextSequence u64 (all below were sent)  40 nextFrameId u64  48 sourceTimeNs i64  56 frameMaxBytes u64
///  64 slotBytes u32  68 windowSlots u32  72 rttNs u32  76 aliveTimeoutMs u32  80 members u32  84 repairable u32
///  88 clockNs i64  96 control address (1 + 32)  129 data address (1 + 32)  162 channel: length u8, up to 64 bytes
/// ```
public final class HeartbeatLayout {
    /// No more frames: nextSequence is final.
    public static final int FLAG_END_OF_STREAM = 1;
    /// Every receiver answers with an ACK at once.
    public static final int FLAG_ACK_REQUEST = 2;
    /// A frame begins at nextSequence, with the number nextFrameId.
    public static final int FLAG_BOUNDARY = 4;
    /// Members that report to a co-root answer the source as well.
    public static final int FLAG_DIRECT = 8;

    static final int NEXT_SEQUENCE = 32;
    static final int NEXT_FRAME_ID = 40;
    static final int SOURCE_TIME = 48;
    static final int FRAME_MAX = 56;
    static final int SLOT_BYTES = 64;
    static final int WINDOW_SLOTS = 68;
    static final int RTT = 72;
    static final int ALIVE_TIMEOUT = 76;
    static final int MEMBERS = 80;
    static final int REPAIRABLE = 84;
    static final int CLOCK = 88;
    static final int CONTROL_ADDRESS = 96;
    static final int DATA_ADDRESS = CONTROL_ADDRESS + AddressField.LENGTH;
    static final int CHANNEL = DATA_ADDRESS + AddressField.LENGTH;
    static final int CHANNEL_BYTES_MAX = 64;

    private HeartbeatLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        final int bytes = ControlLayout.bytes(datagram, offset);
        if (bytes < CHANNEL + 2 || bytes != CHANNEL + 1 + (datagram.get(JAVA_BYTE, offset + CHANNEL) & 0xff)) {
            return false;
        }
        final int slotBytes = datagram.get(Wire.INT, offset + SLOT_BYTES);
        final int windowSlots = datagram.get(Wire.INT, offset + WINDOW_SLOTS);
        final long frameMax = datagram.get(Wire.LONG, offset + FRAME_MAX);
        return bytes <= CHANNEL + 1 + CHANNEL_BYTES_MAX
                && slotBytes > 0
                && slotBytes <= StreamInfo.SLOT_BYTES_MAX
                && slotBytes % 64 == 0
                && windowSlots > 0
                && windowSlots <= StreamInfo.WINDOW_SLOTS_MAX
                && frameMax > 0
                && frameMax < 1L << 32
                && datagram.get(Wire.INT, offset + ALIVE_TIMEOUT) > 0
                && nextSequence(datagram, offset) >= 0
                && nextSequence(datagram, offset) <= Wire.SEQUENCE_MAX
                && repairable(datagram, offset) <= nextSequence(datagram, offset)
                && AddressField.isValid(datagram, offset + CONTROL_ADDRESS)
                && AddressField.isValid(datagram, offset + DATA_ADDRESS);
    }

    public static long nextSequence(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.LONG, offset + NEXT_SEQUENCE);
    }

    /// The source still holds that many datagrams below nextSequence; older datagrams cannot be repaired.
    public static long repairable(final MemorySegment datagram, final long offset) {
        return Integer.toUnsignedLong(datagram.get(Wire.INT, offset + REPAIRABLE));
    }

    /// The source's clock that frames are stamped by, in nanoseconds since the epoch.
    public static long clockNs(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.LONG, offset + CLOCK);
    }

    public static long nextFrameId(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.LONG, offset + NEXT_FRAME_ID);
    }

    public static long sourceTimeNs(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.LONG, offset + SOURCE_TIME);
    }

    public static long rttNs(final MemorySegment datagram, final long offset) {
        return Integer.toUnsignedLong(datagram.get(Wire.INT, offset + RTT));
    }

    public static int members(final MemorySegment datagram, final long offset) {
        return datagram.get(Wire.INT, offset + MEMBERS);
    }

    /// The stream's description; allocates, so only for sessions not yet known.
    public static StreamInfo info(final MemorySegment datagram, final long offset) {
        final byte[] channel = new byte[datagram.get(JAVA_BYTE, offset + CHANNEL) & 0xff];
        MemorySegment.copy(datagram, JAVA_BYTE, offset + CHANNEL + 1, channel, 0, channel.length);
        return new StreamInfo(
                ControlLayout.session(datagram, offset),
                new String(channel, StandardCharsets.US_ASCII),
                datagram.get(Wire.INT, offset + SLOT_BYTES),
                datagram.get(Wire.INT, offset + WINDOW_SLOTS),
                datagram.get(Wire.LONG, offset + FRAME_MAX),
                datagram.get(Wire.INT, offset + ALIVE_TIMEOUT),
                AddressField.read(datagram, offset + CONTROL_ADDRESS),
                AddressField.read(datagram, offset + DATA_ADDRESS));
    }

    /// Writes the fields that are fixed for a session into a template.
    ///
    /// @param channel the channel's name as ASCII bytes
    /// @return the datagram's length
    public static int writeInfo(final MemorySegment datagram, final StreamInfo info, final byte[] channel) {
        datagram.set(Wire.LONG, FRAME_MAX, info.frameMaxBytes());
        datagram.set(Wire.INT, SLOT_BYTES, info.slotBytes());
        datagram.set(Wire.INT, WINDOW_SLOTS, info.windowSlots());
        datagram.set(Wire.INT, ALIVE_TIMEOUT, info.aliveTimeoutMs());
        AddressField.write(datagram, CONTROL_ADDRESS, info.controlAddress());
        AddressField.write(datagram, DATA_ADDRESS, info.dataAddress());
        datagram.set(JAVA_BYTE, CHANNEL, (byte) channel.length);
        MemorySegment.copy(channel, 0, datagram, JAVA_BYTE, CHANNEL + 1, channel.length);
        return CHANNEL + 1 + channel.length;
    }

    /// Completes a copy of the template.
    ///
    /// @return the datagram's length
    public static int write(
            final MemorySegment datagram,
            final int length,
            final int flags,
            final HeartbeatValues values,
            final HeaderChecksum checksum) {
        ControlLayout.begin(datagram, ControlLayout.TYPE_HEARTBEAT, flags, values.ids);
        datagram.set(Wire.LONG, NEXT_SEQUENCE, values.nextSequence);
        datagram.set(Wire.LONG, NEXT_FRAME_ID, values.nextFrameId);
        datagram.set(Wire.LONG, SOURCE_TIME, values.sourceTimeNs);
        datagram.set(Wire.INT, RTT, (int) Math.min(values.rttNs, 0xffff_ffffL));
        datagram.set(Wire.INT, MEMBERS, values.members);
        datagram.set(Wire.INT, REPAIRABLE, values.repairable);
        datagram.set(Wire.LONG, CLOCK, values.clockNs);
        return ControlLayout.seal(datagram, length, checksum);
    }
}
