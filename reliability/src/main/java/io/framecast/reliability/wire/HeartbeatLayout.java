package io.framecast.reliability.wire;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/// HEARTBEAT, source → group (receiver 0) or one receiver: announces the stream. It carries the highest sequence,
/// so that receivers notice lost tails, and the source's time, which ACKs echo for the round-trip time.
///
/// ```
///  40 nextSequence u64 (all below were sent)  48 nextFrameId u64  56 sourceTimeNs i64  64 frameMaxBytes u64
///  72 slotBytes u32  76 windowSlots u32  80 rttNs u32  84 aliveTimeoutMs u32  88 members u32  92 repairable u32
///  96 clockNs i64  104 askedClockNs i64  112 heardClockNs i64
///  120 control address (1 + 32)  153 data address (1 + 32)  186 channel: length u8, up to 64 bytes
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
    /// The stream's datagrams are authenticated: headers have seals.
    public static final int FLAG_SEALED = 16;
    /// With FLAG_SEALED: payloads are encrypted by AES-256-GCM.
    public static final int FLAG_AES_GCM = 32;
    /// With FLAG_SEALED, instead of FLAG_AES_GCM: by ChaCha20-Poly1305.
    public static final int FLAG_CHACHA20_POLY1305 = 64;

    /// Asked clock of a heartbeat that is no answer.
    public static final long NO_CLOCK = Long.MIN_VALUE;

    public static final LongField NEXT_SEQUENCE = new LongField(40);
    public static final LongField NEXT_FRAME_ID = new LongField(48);
    public static final LongField SOURCE_TIME = new LongField(56);
    static final LongField FRAME_MAX = new LongField(64);
    static final IntField SLOT_BYTES = new IntField(72);
    static final IntField WINDOW_SLOTS = new IntField(76);
    /// Unsigned.
    public static final IntField RTT = new IntField(80);
    static final IntField ALIVE_TIMEOUT = new IntField(84);
    public static final IntField MEMBERS = new IntField(88);
    /// Unsigned: the source still holds that many datagrams below nextSequence; older datagrams cannot be repaired.
    public static final IntField REPAIRABLE = new IntField(92);
    /// The source's clock that frames are stamped by, in nanoseconds since the epoch.
    public static final LongField CLOCK = new LongField(96);
    /// The receiver's clock as it asked, in the answer to a SOLICIT; else [#NO_CLOCK].
    public static final LongField ASKED_CLOCK = new LongField(104);
    /// The source's clock when it heard that.
    public static final LongField HEARD_CLOCK = new LongField(112);
    public static final AddressField CONTROL_ADDRESS = new AddressField(120);
    static final AddressField DATA_ADDRESS = new AddressField(120 + AddressField.LENGTH);
    static final IntField CHANNEL_BYTES = new IntField(120 + 2 * AddressField.LENGTH, Byte.BYTES);
    static final int CHANNEL = 121 + 2 * AddressField.LENGTH;
    static final int CHANNEL_BYTES_MAX = 64;

    private HeartbeatLayout() {}

    public static boolean isValid(final MemorySegment datagram, final long offset) {
        final int bytes = ControlLayout.DATAGRAM_BYTES.get(datagram, offset);
        if (bytes <= CHANNEL || bytes != CHANNEL + CHANNEL_BYTES.get(datagram, offset)) {
            return false;
        }
        final int slotBytes = SLOT_BYTES.get(datagram, offset);
        final int windowSlots = WINDOW_SLOTS.get(datagram, offset);
        final long frameMax = FRAME_MAX.get(datagram, offset);
        final long nextSequence = NEXT_SEQUENCE.get(datagram, offset);
        return bytes <= CHANNEL + CHANNEL_BYTES_MAX
                && StreamInfo.Seal.of(ControlLayout.FLAGS.get(datagram, offset)) != null
                && slotBytes > 0
                && slotBytes <= StreamInfo.SLOT_BYTES_MAX
                && slotBytes % 64 == 0
                && windowSlots > 0
                && windowSlots <= StreamInfo.WINDOW_SLOTS_MAX
                && frameMax > 0
                && frameMax < 1L << 32
                && ALIVE_TIMEOUT.get(datagram, offset) > 0
                && nextSequence >= 0
                && nextSequence <= Wire.SEQUENCE_MAX
                && REPAIRABLE.unsigned(datagram, offset) <= nextSequence
                && CONTROL_ADDRESS.isValid(datagram, offset)
                && DATA_ADDRESS.isValid(datagram, offset);
    }

    /// The stream's description; allocates, so only for sessions not yet known.
    public static StreamInfo info(final MemorySegment datagram, final long offset) {
        final byte[] channel = Wire.bytes(datagram, offset + CHANNEL, CHANNEL_BYTES.get(datagram, offset));
        return new StreamInfo(
                ControlLayout.SESSION.get(datagram, offset),
                new String(channel, StandardCharsets.US_ASCII),
                SLOT_BYTES.get(datagram, offset),
                WINDOW_SLOTS.get(datagram, offset),
                FRAME_MAX.get(datagram, offset),
                ALIVE_TIMEOUT.get(datagram, offset),
                CONTROL_ADDRESS.read(datagram, offset),
                DATA_ADDRESS.read(datagram, offset),
                Objects.requireNonNull(StreamInfo.Seal.of(ControlLayout.FLAGS.get(datagram, offset))));
    }

    /// Writes a heartbeat.
    ///
    /// @param channel the channel's name as ASCII bytes
    public static int write(
            final ControlWriter out,
            final int flags,
            final StreamInfo info,
            final byte[] channel,
            final HeartbeatValues values) {
        return out.begin(ControlLayout.TYPE_HEARTBEAT, flags | info.seal().flags())
                .put(NEXT_SEQUENCE, values.nextSequence)
                .put(NEXT_FRAME_ID, values.nextFrameId)
                .put(SOURCE_TIME, values.sourceTimeNs)
                .put(FRAME_MAX, info.frameMaxBytes())
                .put(SLOT_BYTES, info.slotBytes())
                .put(WINDOW_SLOTS, info.windowSlots())
                .put(RTT, (int) Math.min(values.rttNs, 0xffff_ffffL))
                .put(ALIVE_TIMEOUT, info.aliveTimeoutMs())
                .put(MEMBERS, values.members)
                .put(REPAIRABLE, values.repairable)
                .put(CLOCK, values.clockNs)
                .put(ASKED_CLOCK, values.askedClockNs)
                .put(HEARD_CLOCK, values.heardClockNs)
                .put(CONTROL_ADDRESS, info.controlAddress())
                .put(DATA_ADDRESS, info.dataAddress())
                .put(CHANNEL_BYTES, channel.length)
                .put(CHANNEL, channel)
                .seal(CHANNEL + channel.length);
    }
}
