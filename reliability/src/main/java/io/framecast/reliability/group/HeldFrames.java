package io.framecast.reliability.group;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The frames of one segment that its user reads in the ring. Where the leader may lack the room of the oldest of
/// them, it becomes a copy at its address, and its place is the leader's again: no frame that a user holds stops
/// other members. A frame of which a page is such a copy is copied when it is given.
///
/// One thread at a time.
public final class HeldFrames {
    /// Beside a longest frame: a slot that is never filled, and the slots at the ends of frames.
    static final int SLOTS_MORE = 4;

    // A source numbers 15 formats, and uses a number again when no frame that has it is held.
    private static final int FORMATS_MAX = 7;
    // Copies take a part of the memory that is available, or this if that is more.
    private static final int MEMORY_PART = 4;
    private static final long MEMORY_MIN = 64L << 20;
    private static final long BUFFER_MIN = 4096;

    /// The member's own mapping of the ring.
    public interface Ring {
        /// Whether some byte of a run lies in a page that is a copy.
        boolean isKept(long offset, long length);

        /// Puts a copy of a run's pages at its place. [#giveBack] ends it.
        ///
        /// @return false where there is no memory for it
        boolean keep(long offset, long length);

        /// A run that was kept is read no more.
        void giveBack(long offset, long length);
    }

    /// A frame that the user has.
    public static final class Held {
        private final long number;
        private final long offset;
        private final long bytes;
        // Changes of format so far.
        private final int formats;
        // Of the copy elsewhere that it is; 0 for none.
        private final long bufferBytes;
        private @Nullable MemorySegment buffer;
        // It is a copy at its place.
        private boolean kept;

        private Held(
                final long number, final long offset, final long bytes, final int formats, final long bufferBytes) {
            this.number = number;
            this.offset = offset;
            this.bytes = bytes;
            this.formats = formats;
            this.bufferBytes = bufferBytes;
        }

        public long number() {
            return number;
        }

        /// Bytes of the memory elsewhere that the frame is copied to; 0 where it is read in the ring.
        public long bufferBytes() {
            return bufferBytes;
        }

        /// The frame was copied to memory elsewhere.
        public void onCopied(final MemorySegment to) {
            buffer = to;
        }

        /// That memory; null for none.
        public @Nullable MemorySegment buffer() {
            return buffer;
        }
    }

    private final Ring ring;
    private final TableLayout layout;
    private final long ringBytes;
    private final long inPlaceMax;
    private final long copiedMax;
    // By entry: frames in the ring that the user has and that are no copies.
    private final @Nullable Held[] inPlace;
    // Offset behind the frame that was given last.
    private long end;
    private int format;
    private int formats;
    private long held;
    private long copiedFrames;
    private long copiedBytes;

    /// @param neededBytes of the ring that the leader needs behind the frames in place
    /// @param availableBytes memory that the process may take
    HeldFrames(
            final Ring ring,
            final TableLayout layout,
            final long ringBytes,
            final long neededBytes,
            final long availableBytes) {
        this.ring = ring;
        this.layout = layout;
        this.ringBytes = ringBytes;
        inPlaceMax = ringBytes - neededBytes;
        copiedMax = Math.max(MEMORY_MIN, availableBytes / MEMORY_PART);
        inPlace = new Held[layout.entries()];
    }

    /// Frames that the user has.
    public long held() {
        return held;
    }

    /// Frames that became copies so far.
    public long copiedFrames() {
        return copiedFrames;
    }

    /// Whether copies take as much memory as they may: no frame is given until the user releases some.
    public boolean isFull() {
        return copiedBytes >= copiedMax;
    }

    /// A frame for the user.
    ///
    /// @param formatPlace of its format
    Held give(final long number, final long offset, final long bytes, final int formatPlace) {
        formats += formatPlace == format ? 0 : 1;
        format = formatPlace;
        end = offset + bytes;
        final boolean copies = ring.isKept(offset, bytes);
        final Held made = new Held(number, offset, bytes, formats, copies ? bufferBytes(bytes) : 0);
        if (copies) {
            count(made.bufferBytes);
        } else {
            inPlace[layout.index(number)] = made;
        }
        held++;
        return made;
    }

    // The smallest power of two, from the least size on, that holds so many bytes.
    private static long bufferBytes(final long bytes) {
        return BUFFER_MIN << (Long.SIZE - Long.numberOfLeadingZeros((Math.max(bytes, 1) - 1) / BUFFER_MIN));
    }

    private void count(final long bytes) {
        copiedFrames++;
        copiedBytes += bytes;
    }

    /// Whether the leader may lack the room of an entry's frame.
    ///
    /// @param oldest entry that is not released
    /// @param next entry that is taken next
    boolean isInTheWay(final long oldest, final long next) {
        final Held one = inPlace[layout.index(oldest)];
        if (one == null || one.number != oldest) {
            return false;
        }
        final long used = Math.floorMod(end - one.offset - 1, ringBytes) + 1;
        return used > inPlaceMax || next - oldest > layout.entries() / 2 || formats - one.formats > FORMATS_MAX;
    }

    /// Makes an entry's frame, which is in place, a copy at its place. Its entry can be released then.
    ///
    /// @return false where there is no memory for that
    boolean keep(final long number) {
        final Held one = inPlace[layout.index(number)];
        if (one == null || isFull() || !ring.keep(one.offset, one.bytes)) {
            return false;
        }
        inPlace[layout.index(number)] = null;
        one.kept = true;
        count(one.bytes);
        return true;
    }

    /// The user gives a frame back.
    ///
    /// @return whether its entry is to be released
    boolean giveBack(final Held one) {
        held--;
        if (one.kept) {
            copiedBytes -= one.bytes;
            ring.giveBack(one.offset, one.bytes);
            return false;
        }
        if (one.bufferBytes > 0) {
            copiedBytes -= one.bufferBytes;
            return false;
        }
        inPlace[layout.index(one.number)] = null;
        return true;
    }
}
