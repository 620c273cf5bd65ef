package io.framecast.reliability.window;

import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The known frames in a receiver's window, by first sequence. A frame takes at least one datagram, so a table as
/// long as the window never holds two frames in one entry.
///
/// Pure state; one thread.
public final class FrameTable {
    private static final long NONE = -1;
    // Flags that mean something to readers.
    private static final int FLAGS = DataLayout.FLAG_KEYFRAME | DataLayout.FLAG_BUNDLE | DataLayout.FLAG_GATHERED;

    private final int mask;
    private final long[] firstSequences;
    private final long[] frameBytes;
    private final long[] timestampsNs;
    private final int[] frameIds;
    private final int[] attributes;
    private final long[] metadataSequences;
    private final byte[] @Nullable [] metadata;
    private final ReceivedFormats known = new ReceivedFormats();
    // By frame; null until a format is known.
    private @Nullable StreamFormat @Nullable [] formats;

    /// Makes a table.
    ///
    /// @param capacity a power of two, at least the window's slots
    public FrameTable(final int capacity) {
        mask = capacity - 1;
        firstSequences = new long[capacity];
        frameBytes = new long[capacity];
        timestampsNs = new long[capacity];
        frameIds = new int[capacity];
        attributes = new int[capacity];
        metadataSequences = new long[capacity];
        metadata = new byte[capacity][];
        java.util.Arrays.fill(firstSequences, NONE);
    }

    public boolean contains(final long firstSequence) {
        return firstSequences[index(firstSequence)] == firstSequence;
    }

    /// Enters the frame of a valid header, or compares the header with the entry.
    ///
    /// @return false when the header contradicts an earlier one
    public boolean learn(final MemorySegment header, final long offset, final long firstSequence) {
        final int index = index(firstSequence);
        final long bytes = DataLayout.FRAME_BYTES.unsigned(header, offset);
        final int id = DataLayout.FRAME_ID.get(header, offset);
        final int attribute = DataLayout.attributes(header, offset);
        if (firstSequences[index] == firstSequence) {
            return frameBytes[index] == bytes && frameIds[index] == id && attributes[index] == attribute;
        }
        firstSequences[index] = firstSequence;
        frameBytes[index] = bytes;
        frameIds[index] = id;
        attributes[index] = attribute;
        timestampsNs[index] = DataLayout.TIMESTAMP.get(header, offset);
        return true;
    }

    /// Enters a frame that another table knew.
    ///
    /// @param attribute as [#attributes] returned it
    public void restore(
            final long firstSequence, final int id, final long bytes, final int attribute, final long timestampNs) {
        final int index = index(firstSequence);
        firstSequences[index] = firstSequence;
        frameBytes[index] = bytes;
        frameIds[index] = id;
        attributes[index] = attribute;
        timestampsNs[index] = timestampNs;
    }

    /// Flags and the length of the metadata, as in the headers of a known frame.
    public int attributes(final long firstSequence) {
        return attributes[index(firstSequence)];
    }

    public long frameBytes(final long firstSequence) {
        return frameBytes[index(firstSequence)];
    }

    public long timestampNs(final long firstSequence) {
        return timestampsNs[index(firstSequence)];
    }

    /// The frame's number modulo 2^32.
    public int frameId(final long firstSequence) {
        return frameIds[index(firstSequence)];
    }

    public int flags(final long firstSequence) {
        return attributes[index(firstSequence)] & FLAGS;
    }

    public int metadataBytes(final long firstSequence) {
        return isBundle(firstSequence) ? 0 : attributes[index(firstSequence)] >>> 8;
    }

    /// Frames in the datagram; 0 where it carries one frame, or a part of one.
    public int bundleFrames(final long firstSequence) {
        return isBundle(firstSequence) ? attributes[index(firstSequence)] >>> 8 : 0;
    }

    private boolean isBundle(final long firstSequence) {
        return (attributes[index(firstSequence)] & DataLayout.FLAG_BUNDLE) != 0;
    }

    /// Keeps metadata for a frame inside the window, whether or not the frame is known yet.
    public void putMetadata(final long firstSequence, final byte[] bytes) {
        metadataSequences[index(firstSequence)] = firstSequence;
        metadata[index(firstSequence)] = bytes;
    }

    public byte @Nullable [] metadata(final long firstSequence) {
        return metadataSequences[index(firstSequence)] == firstSequence ? metadata[index(firstSequence)] : null;
    }

    /// Whether the metadata that a known frame's headers announce is here, or there is none.
    public boolean hasMetadata(final long firstSequence) {
        final int bytes = metadataBytes(firstSequence);
        final byte[] here = metadata(firstSequence);
        return bytes == 0 || (here != null && here.length == bytes);
    }

    /// Keeps a format for frames that have it.
    ///
    /// @param bytes not changed afterwards
    public void putFormat(final int serial, final int number, final long firstSequence, final byte[] bytes) {
        known.put(serial, number, firstSequence, bytes);
        all();
    }

    /// The receiver becomes a member.
    ///
    /// @param newestSerial of the formats that were announced before
    public void startFormats(final int newestSerial) {
        known.start(newestSerial);
    }

    /// Whether an announcement to all cannot be out of date.
    public boolean isNewFormat(final int serial) {
        return known.isNew(serial);
    }

    /// Frames were left out: with many formats, an unknown one may have taken over a known one's number meanwhile.
    public void onGap(final long count) {
        known.onGap(count);
    }

    /// The format that another table had found for a frame. Other frames may have another one under its number by now.
    public void restoreFormat(final long firstSequence, final StreamFormat format) {
        all()[index(firstSequence)] = format;
    }

    private @Nullable StreamFormat[] all() {
        if (formats == null) {
            formats = new StreamFormat[mask + 1];
        }
        return formats;
    }

    /// Number of the format that a known frame's headers announce; 0 for none.
    public int formatNumber(final long firstSequence) {
        return attributes[index(firstSequence)] >>> 4 & 0xf;
    }

    /// Whether the format of a known frame is known, or it has none. From then on the frame keeps it.
    public boolean findFormat(final long firstSequence) {
        final int number = formatNumber(firstSequence);
        if (number == 0) {
            return true;
        }
        final @Nullable StreamFormat[] all = formats;
        if (all == null) {
            return false;
        }
        final int index = index(firstSequence);
        if (all[index] == null) {
            final boolean begins = (attributes[index] & DataLayout.FLAG_NEW_FORMAT) != 0;
            all[index] = known.find(number, firstSequence, begins);
        }
        return all[index] != null;
    }

    /// The result of [#findFormat]; null for a frame without a format.
    public @Nullable StreamFormat format(final long firstSequence) {
        final @Nullable StreamFormat[] all = formats;
        return all == null || formatNumber(firstSequence) == 0 ? null : all[index(firstSequence)];
    }

    /// Forgets a frame that was delivered.
    public void remove(final long firstSequence) {
        final int index = index(firstSequence);
        firstSequences[index] = NONE;
        metadataSequences[index] = NONE;
        metadata[index] = null;
        final @Nullable StreamFormat[] all = formats;
        if (all != null) {
            all[index] = null;
        }
    }

    private int index(final long sequence) {
        return (int) sequence & mask;
    }
}
