package io.framecast.reliability.group;

import io.framecast.reliability.receive.Checkpoint;
import io.framecast.reliability.window.StreamFormat;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// A leader's checkpoint in the words of its segment: two copies, written in turn, so that a leader which dies
/// while it writes one leaves the other. Its source has heard nothing of the state in a torn copy.
final class CheckpointWords {
    private final SegmentMemory words;
    private final FormatWords formats;
    private long written;

    CheckpointWords(final SegmentMemory words, final FormatWords formats) {
        this.words = words;
        this.formats = formats;
    }

    /// Leader.
    ///
    /// @param offset of the frame in progress in the ring
    /// @param entry that it will be
    /// @param oldest entry that can be read
    void write(final Checkpoint from, final long offset, final long entry, final long oldest) {
        final int format = formats.put(from.format, entry, oldest);
        written++;
        final int at = SegmentLayout.checkpoint(written);
        words.putLongRelease(at, 2 * written - 1);
        VarHandle.storeStoreFence();
        words.putLong(at + SegmentLayout.CHECKPOINT_SECRET, from.secret);
        words.putLong(at + SegmentLayout.CHECKPOINT_FIRST_SEQUENCE, from.firstSequence);
        words.putLong(at + SegmentLayout.CHECKPOINT_FRAME_ID, from.frameId);
        words.putLong(at + SegmentLayout.CHECKPOINT_ACKNOWLEDGED, from.acknowledged);
        words.putLong(at + SegmentLayout.CHECKPOINT_GRANTED, from.granted);
        words.putLong(at + SegmentLayout.CHECKPOINT_FRAME_BYTES, from.frameBytes);
        words.putLong(at + SegmentLayout.CHECKPOINT_TIMESTAMP, from.timestampNs);
        words.putInt(at + SegmentLayout.CHECKPOINT_ATTRIBUTES, from.attributes);
        words.putInt(at + SegmentLayout.CHECKPOINT_COMPLETE, from.complete ? 1 : 0);
        words.putLong(at + SegmentLayout.CHECKPOINT_OFFSET, offset);
        final byte[] metadata = from.metadata;
        final int bytes = metadata == null ? -1 : Math.min(metadata.length, SegmentLayout.METADATA_BYTES_MAX);
        words.putInt(at + SegmentLayout.CHECKPOINT_METADATA_BYTES, bytes);
        words.putInt(at + SegmentLayout.CHECKPOINT_FORMAT, format);
        if (metadata != null) {
            words.putBytes(at + SegmentLayout.CHECKPOINT_METADATA, metadata, bytes);
        }
        words.putLongVolatile(at, 2 * written);
    }

    /// Successor: the newest whole copy, with values that no longer change. It does not check the values.
    ///
    /// @return null where there is none
    static @Nullable Found read(final SegmentMemory words, final FormatWords formats) {
        final long one = words.getLongVolatile(SegmentLayout.checkpoint(0));
        final long other = words.getLongVolatile(SegmentLayout.checkpoint(1));
        final boolean isOne = isWhole(one) && (one > other || !isWhole(other));
        final long version = isOne ? one : other;
        final int at = SegmentLayout.checkpoint(isOne ? 0 : 1);
        if (!isWhole(version)) {
            return null;
        }
        final Checkpoint to = new Checkpoint();
        to.secret = words.getLong(at + SegmentLayout.CHECKPOINT_SECRET);
        to.firstSequence = words.getLong(at + SegmentLayout.CHECKPOINT_FIRST_SEQUENCE);
        to.frameId = words.getLong(at + SegmentLayout.CHECKPOINT_FRAME_ID);
        to.acknowledged = words.getLong(at + SegmentLayout.CHECKPOINT_ACKNOWLEDGED);
        to.granted = words.getLong(at + SegmentLayout.CHECKPOINT_GRANTED);
        to.frameBytes = words.getLong(at + SegmentLayout.CHECKPOINT_FRAME_BYTES);
        to.timestampNs = words.getLong(at + SegmentLayout.CHECKPOINT_TIMESTAMP);
        to.attributes = words.getInt(at + SegmentLayout.CHECKPOINT_ATTRIBUTES);
        to.complete = words.getInt(at + SegmentLayout.CHECKPOINT_COMPLETE) != 0;
        final long offset = words.getLong(at + SegmentLayout.CHECKPOINT_OFFSET);
        final int bytes = words.getInt(at + SegmentLayout.CHECKPOINT_METADATA_BYTES);
        if (bytes >= 0) {
            final byte[] metadata = new byte[Math.min(bytes, SegmentLayout.METADATA_BYTES_MAX)];
            words.getBytes(at + SegmentLayout.CHECKPOINT_METADATA, metadata);
            to.metadata = metadata;
        }
        to.format = format(formats, words.getInt(at + SegmentLayout.CHECKPOINT_FORMAT));
        VarHandle.acquireFence();
        // A leader that only stood still may have written on.
        return words.getLongVolatile(at) == version ? new Found(to, offset) : null;
    }

    private static @Nullable StreamFormat format(final FormatWords formats, final int place) {
        final byte[] bytes = formats.get(place);
        return bytes == null ? null : new StreamFormat(formats.serial(place), place, 0, bytes);
    }

    private static boolean isWhole(final long version) {
        return version > 0 && (version & 1) == 0;
    }

    /// A checkpoint that a leader has left.
    ///
    /// @param offset of the frame in progress in its ring
    record Found(Checkpoint checkpoint, long offset) {}
}
