package io.framecast.reliability.group;

import io.framecast.reliability.window.StreamFormat;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The formats of a segment's frames, in places that entries name. A leader writes a place again when no entry
/// that names it can be read any more.
///
/// One thread.
final class FormatWords {
    private static final int NONE = 0;
    private static final int RESERVED = 2;

    private final SegmentMemory words;
    private final TableLayout layout;
    // Leader: by place, the format and the last entry that names it.
    private final int[] serials = new int[SegmentLayout.FORMATS + 1];
    private final long[] entries = new long[SegmentLayout.FORMATS + 1];
    private int used;
    // Follower: by place, the format when it was read.
    private final byte[] @Nullable [] read = new byte[SegmentLayout.FORMATS + 1][];

    FormatWords(final SegmentMemory words, final TableLayout layout) {
        this.words = words;
        this.layout = layout;
    }

    /// Leader: whether there are places for the next entry's format, and for that of the frame behind it, which a
    /// checkpoint may name.
    ///
    /// @param oldest entries below cannot be read any more
    boolean hasRoom(final long oldest) {
        return used <= SegmentLayout.FORMATS - RESERVED || oldest >= sparing();
    }

    /// Leader: there is room when no entry below this number can be read any more.
    long sparing() {
        if (used <= SegmentLayout.FORMATS - RESERVED) {
            return 0;
        }
        long first = Long.MAX_VALUE;
        long second = used < SegmentLayout.FORMATS ? 0 : Long.MAX_VALUE;
        for (int place = 1; place <= used; place++) {
            final long end = entries[place] + 1;
            second = Math.min(second, Math.max(first, end));
            first = Math.min(first, end);
        }
        return second == 0 ? first : second;
    }

    /// Leader: the place of a format that an entry names.
    ///
    /// @param format null for none
    /// @param oldest entries below cannot be read any more
    /// @return 1 … [SegmentLayout#FORMATS]; 0 for none
    int put(final @Nullable StreamFormat format, final long entry, final long oldest) {
        if (format == null) {
            return NONE;
        }
        int place = find(format.serial());
        if (place == NONE) {
            place = used < SegmentLayout.FORMATS ? ++used : vacancy(oldest);
            if (place == NONE) {
                return NONE;
            }
            serials[place] = format.serial();
            write(layout.format(place), format);
        }
        entries[place] = Math.max(entries[place], entry);
        return place;
    }

    private int find(final int serial) {
        for (int place = used; place > 0; place--) {
            if (serials[place] == serial) {
                return place;
            }
        }
        return NONE;
    }

    private int vacancy(final long oldest) {
        for (int place = 1; place <= SegmentLayout.FORMATS; place++) {
            if (entries[place] < oldest) {
                return place;
            }
        }
        return NONE;
    }

    private void write(final int at, final StreamFormat format) {
        final byte[] bytes = format.bytes();
        words.putInt(at + SegmentLayout.FORMAT_SERIAL, format.serial());
        words.putInt(at + SegmentLayout.FORMAT_LENGTH, bytes.length);
        words.putBytes(at + SegmentLayout.FORMAT_BYTES, bytes, bytes.length);
    }

    /// Follower: the format at a place, unchecked.
    ///
    /// @return the same array as long as the place holds the same bytes; null for none
    byte @Nullable [] get(final int place) {
        if (place <= NONE || place > SegmentLayout.FORMATS) {
            return null;
        }
        final int at = layout.format(place);
        final int length = words.getInt(at + SegmentLayout.FORMAT_LENGTH);
        if (length <= 0 || length > SegmentLayout.FORMAT_BYTES_MAX) {
            return null;
        }
        final byte[] bytes = new byte[length];
        words.getBytes(at + SegmentLayout.FORMAT_BYTES, bytes);
        if (!Arrays.equals(bytes, read[place])) {
            read[place] = bytes;
        }
        return read[place];
    }

    /// The serial of the format at a place; 0 for none.
    int serial(final int place) {
        return place <= NONE || place > SegmentLayout.FORMATS
                ? 0
                : words.getInt(layout.format(place) + SegmentLayout.FORMAT_SERIAL);
    }
}
