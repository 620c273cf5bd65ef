package io.framecast.reliability.group;

import io.framecast.reliability.wire.BundleLayout;
import io.framecast.reliability.wire.StreamInfo;
import org.jspecify.annotations.Nullable;

/// The stream as a leader describes it in the words of its segment. Only members check the values.
///
/// Written once, before the segment is shared.
final class StreamWords {
    private final SegmentMemory words;

    StreamWords(final SegmentMemory words) {
        this.words = words;
    }

    /// Leader.
    void write(final StreamInfo stream) {
        words.putLong(SegmentLayout.SESSION_AT, stream.session());
        words.putLong(SegmentLayout.FRAME_MAX_AT, stream.frameMaxBytes());
        words.putInt(SegmentLayout.SLOT_BYTES_AT, stream.slotBytes());
        words.putInt(SegmentLayout.WINDOW_SLOTS_AT, stream.windowSlots());
        words.putInt(SegmentLayout.ALIVE_MS_AT, stream.aliveTimeoutMs());
        words.putInt(SegmentLayout.SEAL_AT, stream.seal().flags());
        putAddress(SegmentLayout.CONTROL_ADDRESS_AT, stream.controlAddress());
        putAddress(SegmentLayout.DATA_ADDRESS_AT, stream.dataAddress());
    }

    private void putAddress(final int at, final byte[] address) {
        words.putByte(at, (byte) address.length);
        words.putBytes(at + 1, address, address.length);
    }

    long session() {
        return words.getLong(SegmentLayout.SESSION_AT);
    }

    /// Longest frame, which a ring has room for.
    long frameMaxBytes(final long ringBytes) {
        return Math.clamp(words.getLong(SegmentLayout.FRAME_MAX_AT), 1, Math.max(1, ringBytes));
    }

    /// 0 … [StreamInfo#SLOT_BYTES_MAX].
    long slotBytes() {
        return Math.clamp(words.getInt(SegmentLayout.SLOT_BYTES_AT), 0, StreamInfo.SLOT_BYTES_MAX);
    }

    /// 0 … [StreamInfo#WINDOW_SLOTS_MAX].
    long windowSlots() {
        return Math.clamp(words.getInt(SegmentLayout.WINDOW_SLOTS_AT), 0, StreamInfo.WINDOW_SLOTS_MAX);
    }

    /// The description; null where it makes no sense.
    ///
    /// @param session as it was read once
    /// @param frameMaxBytes as it was read once
    @Nullable
    StreamInfo read(final String channel, final long session, final long frameMaxBytes) {
        final int slotBytes = words.getInt(SegmentLayout.SLOT_BYTES_AT);
        final int windowSlots = words.getInt(SegmentLayout.WINDOW_SLOTS_AT);
        final int aliveTimeoutMs = words.getInt(SegmentLayout.ALIVE_MS_AT);
        final byte[] control = address(SegmentLayout.CONTROL_ADDRESS_AT);
        final byte[] data = address(SegmentLayout.DATA_ADDRESS_AT);
        final StreamInfo.Seal seal = StreamInfo.Seal.of(words.getInt(SegmentLayout.SEAL_AT));
        final boolean sound = slotBytes > 0
                && slotBytes <= StreamInfo.SLOT_BYTES_MAX
                && slotBytes % BundleLayout.ALIGN_BYTES == 0
                && windowSlots > 0
                && windowSlots <= StreamInfo.WINDOW_SLOTS_MAX
                && aliveTimeoutMs > 0
                && control.length > 0
                && data.length > 0;
        return sound && seal != null
                ? new StreamInfo(
                        session, channel, slotBytes, windowSlots, frameMaxBytes, aliveTimeoutMs, control, data, seal)
                : null;
    }

    private byte[] address(final int at) {
        final byte[] bytes = new byte[Math.clamp(words.getByte(at), 0, SegmentLayout.ADDRESS_BYTES_MAX)];
        words.getBytes(at + 1, bytes);
        return bytes;
    }
}
