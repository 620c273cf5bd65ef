package io.framecast.reliability.assembly;

import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;

/// Where the frames of a stream that have not come are expected to begin: one behind the other, as long as the
/// newest frame of which something came. The first of a membership is expected to be as long as a frame may be.
///
/// Pure state; one thread; allocates nothing.
final class FrameForecast {
    static final long NONE = -1;
    private static final int STEADY = 4;

    private final StreamInfo stream;
    private long newestFirst;
    private long newestEnd;
    // 0 where nothing is expected, behind a bundle.
    private long slots;
    // Frames in a row that were as long as the one before.
    private int alike;
    // Behind the newest sequence that came on the data lane.
    private long next;

    FrameForecast(final StreamInfo stream) {
        this.stream = stream;
    }

    void start(final long firstSequence) {
        newestFirst = firstSequence;
        newestEnd = firstSequence;
        slots = stream.frameMaxSlots();
        alike = 0;
        next = firstSequence;
    }

    /// Datagrams before `end` came on the data lane.
    void pass(final long end) {
        next = Math.max(next, end);
    }

    /// The sequence behind the newest that was passed.
    long next() {
        return next;
    }

    /// Slots from the receive that is posted next up to the one that the next frame is expected to begin in.
    ///
    /// @param ahead receives that are queued before it
    /// @return [#NONE] where nothing is expected
    long toNextFrame(final int ahead) {
        if (!isSteady()) {
            return NONE;
        }
        final long behind = next + ahead - newestEnd;
        return behind < 0 ? -behind : (slots - behind % slots) % slots;
    }

    /// Behind the newest frame: from here on frames are expected.
    long end() {
        return newestEnd;
    }

    /// Length of an expected frame in datagrams; 0 where none is expected.
    long slots() {
        return slots;
    }

    /// Whether the stream's frames have been of one length for some time.
    boolean isSteady() {
        return slots > 0 && alike >= STEADY;
    }

    /// The most bytes of an expected frame.
    long bytesMax() {
        return Math.min(slots * stream.slotBytes(), stream.frameMaxBytes());
    }

    /// First sequence of the frame to which a sequence belongs: the newest, or an expected one; else [#NONE].
    long frameOf(final long sequence) {
        if (sequence < newestEnd) {
            return sequence < newestFirst ? NONE : newestFirst;
        }
        return slots == 0 ? NONE : newestEnd + (sequence - newestEnd) / slots * slots;
    }

    /// Whether a frame that came is as it was expected, or older than the newest.
    ///
    /// @param bytes 0 for a bundle
    boolean expects(final long first, final long bytes) {
        final long length = StreamInfo.slots(bytes, stream.slotBytes());
        return first < newestEnd || (length == slots && length > 0 && (first - newestEnd) % length == 0);
    }

    /// Something came of a frame.
    void learn(final long first, final long bytes) {
        if (first >= newestEnd) {
            final long length = StreamInfo.slots(bytes, stream.slotBytes());
            alike = length == slots ? alike + 1 : 0;
            slots = length;
            newestFirst = first;
            newestEnd = first + Math.max(1, slots);
        }
    }

    /// Length of a datagram's frame; 0 where it is a bundle.
    static long frameBytes(final MemorySegment headers, final long header) {
        return DataLayout.isBundle(headers, header) ? 0 : DataLayout.FRAME_BYTES.unsigned(headers, header);
    }
}
