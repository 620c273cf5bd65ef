package io.framecast.reliability.receive;

import io.framecast.reliability.wire.BundleLayout;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.FrameLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;

/// The trust boundary of the data and repair lanes: after GOOD, a header belongs to the session and has no
/// impossible value. [ReceiverMachine] checks the values that depend on the receiver's progress.
final class HeaderCheck {
    private final StreamInfo stream;
    private final HeaderChecksum checksum = new HeaderChecksum();

    HeaderCheck(final StreamInfo stream) {
        this.stream = stream;
    }

    /// Checks a datagram of `bytes` bytes whose header lies at `offset`.
    Verdict check(final MemorySegment header, final long offset, final int bytes) {
        final int payloadBytes = bytes - stream.headerBytes();
        if (payloadBytes <= 0 || payloadBytes > stream.slotBytes()) {
            return Verdict.BAD_LENGTH;
        }
        final int type = DataLayout.type(header, offset);
        if (type < 0) {
            return Verdict.BAD_VERSION;
        }
        if (type != DataLayout.TYPE_DATA && type != DataLayout.TYPE_PROBE) {
            return Verdict.BAD_TYPE;
        }
        if (DataLayout.SESSION_TAG.get(header, offset) != DataLayout.sessionTag(stream.session())) {
            return Verdict.WRONG_SESSION;
        }
        if (!checksum.isSealed(header, offset, stream.session())) {
            return Verdict.BAD_CHECKSUM;
        }
        return type == DataLayout.TYPE_PROBE || isPossible(header, offset, payloadBytes)
                ? Verdict.GOOD
                : Verdict.IMPOSSIBLE;
    }

    private boolean isPossible(final MemorySegment header, final long offset, final int payloadBytes) {
        if (DataLayout.isBundle(header, offset)) {
            return isPossibleBundle(header, offset, payloadBytes);
        }
        final long frameBytes = DataLayout.FRAME_BYTES.unsigned(header, offset);
        final long index = DataLayout.FRAME_INDEX.unsigned(header, offset);
        final long sequence = DataLayout.SEQUENCE.get(header, offset);
        return frameBytes > 0
                && frameBytes <= stream.frameMaxBytes()
                && sequence >= index
                && index * stream.slotBytes() < frameBytes
                && payloadBytes == Math.min(stream.slotBytes(), frameBytes - index * stream.slotBytes())
                && DataLayout.METADATA_BYTES.get(header, offset) <= FrameLayout.METADATA_BYTES_MAX;
    }

    // The table is read and checked when the bundle's turn comes.
    private static boolean isPossibleBundle(final MemorySegment header, final long offset, final int payloadBytes) {
        final int frames = DataLayout.bundleFrames(header, offset);
        return frames >= BundleLayout.FRAMES_MIN
                && frames <= BundleLayout.FRAMES_MAX
                && DataLayout.FRAME_INDEX.unsigned(header, offset) == 0
                && DataLayout.FRAME_BYTES.unsigned(header, offset) == payloadBytes
                && DataLayout.SEQUENCE.get(header, offset) >= 0
                && BundleLayout.tableBytes(frames) + (frames - 1) * BundleLayout.ALIGN_BYTES < payloadBytes;
    }
}
