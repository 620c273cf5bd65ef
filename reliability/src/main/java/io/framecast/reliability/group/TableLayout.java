package io.framecast.reliability.group;

import io.framecast.reliability.wire.BundleLayout;

/// Places of the frame table, and of the records behind it, in a segment whose table has a given length.
/// Processes share segments of [#FULL] length; a simulated table is shorter, so that it runs full.
public final class TableLayout {
    /// As docs/host-segment.md has it.
    public static final TableLayout FULL =
            new TableLayout(SegmentLayout.ENTRIES, SegmentLayout.ENTRIES - BundleLayout.FRAMES_MAX);

    private static final int TABLE = SegmentLayout.HEADER_BYTES + SegmentLayout.MEMBERS * SegmentLayout.MEMBER_BYTES;

    private final int entries;
    private final int room;
    private final int mask;
    private final int metadata;
    private final int devices;
    private final int formats;
    private final int readers;

    /// @param entries length of the table, a power of two
    /// @param room entries in use below which all frames of one more datagram are taken
    public TableLayout(final int entries, final int room) {
        if (Integer.bitCount(entries) != 1 || room < 1 || room > entries - BundleLayout.FRAMES_MAX) {
            throw new IllegalArgumentException("frame table: expected a power of two with room for a datagram's "
                    + BundleLayout.FRAMES_MAX + " frames beside " + room + ", got " + entries);
        }
        this.entries = entries;
        this.room = room;
        mask = entries - 1;
        metadata = TABLE + entries * SegmentLayout.ENTRY_BYTES;
        devices = metadata + entries * SegmentLayout.METADATA_BYTES_MAX;
        formats = devices + SegmentLayout.MEMBERS * SegmentLayout.DEVICE_BYTES;
        readers = formats + SegmentLayout.FORMATS * SegmentLayout.FORMAT_STRIDE;
    }

    /// Length of the table.
    public int entries() {
        return entries;
    }

    int room() {
        return room;
    }

    /// Index of an entry in an array of as many.
    public int index(final long number) {
        return (int) number & mask;
    }

    public int entry(final long number) {
        return TABLE + index(number) * SegmentLayout.ENTRY_BYTES;
    }

    public int metadata(final long number) {
        return metadata + index(number) * SegmentLayout.METADATA_BYTES_MAX;
    }

    /// A member's record about device memory.
    public int device(final int index) {
        return devices + index * SegmentLayout.DEVICE_BYTES;
    }

    /// The format at a place, from 1 on.
    public int format(final int place) {
        return formats + (place - 1) * SegmentLayout.FORMAT_STRIDE;
    }

    /// A member's record about the frames that its user has.
    public int reader(final int index) {
        return readers + index * SegmentLayout.READER_BYTES;
    }

    /// Length of the words.
    public int wordsBytes() {
        return readers + SegmentLayout.MEMBERS * SegmentLayout.READER_BYTES;
    }
}
