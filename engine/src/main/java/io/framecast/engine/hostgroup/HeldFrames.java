package io.framecast.engine.hostgroup;

import io.framecast.api.error.DeviceException;
import io.framecast.engine.memory.Pages;
import io.framecast.engine.memory.RingView;
import io.framecast.engine.memory.SystemMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The frames of one segment that its user reads in the ring. Where the leader may lack the room of the oldest of
/// them, it becomes a copy at its address, and its place is the leader's again: no frame that a user holds stops
/// other members. A frame of which a page is such a copy is copied when it is given.
///
/// Used within the lock of its segment.
final class HeldFrames {
    // A source numbers 15 formats, and uses a number again when no frame that has it is held.
    private static final int FORMATS_MAX = 7;
    private static final int ENTRIES_MAX = SegmentLayout.ENTRIES / 2;
    // Beside a longest frame: a slot that is never filled, and the slots at the ends of frames.
    private static final int SLOTS_MORE = 4;
    // Copies take a part of the memory that is available, or this if that is more.
    private static final int MEMORY_PART = 4;
    private static final long MEMORY_MIN = 64L << 20;
    private static final long BUFFER_MIN = 4096;

    /// A frame that the user has.
    static final class Held {
        private final long number;
        private final long offset;
        private final MemorySegment memory;
        // Changes of format so far.
        private final int formats;
        // It lies in a copy elsewhere.
        private final @Nullable MemorySegment buffer;
        // It is a copy at its place.
        private boolean kept;

        private Held(
                final long number,
                final long offset,
                final MemorySegment memory,
                final int formats,
                final @Nullable MemorySegment buffer) {
            this.number = number;
            this.offset = offset;
            this.memory = memory;
            this.formats = formats;
            this.buffer = buffer;
        }

        long number() {
            return number;
        }

        /// Of the frame's length.
        MemorySegment memory() {
            return memory;
        }

        /// Whether its entry is released as soon as it was given.
        boolean isCopied() {
            return buffer != null;
        }
    }

    private final RingView ring;
    private final Arena arena;
    private final long ringBytes;
    private final long inPlaceMax;
    private final long copiedMax = Math.max(MEMORY_MIN, SystemMemory.availableBytes() / MEMORY_PART);
    // By entry: frames in the ring that the user has and that are no copies.
    private final @Nullable Held[] inPlace = new Held[SegmentLayout.ENTRIES];
    // By size: memory for copies elsewhere, of 4 KiB << index bytes.
    private final List<ArrayDeque<MemorySegment>> spare = new ArrayList<>();
    // Offset behind the frame that was given last.
    private long end;
    private int format;
    private int formats;
    private long held;
    private long copiedFrames;
    private long copiedBytes;

    /// @param slotBytes of the stream
    /// @param reservedBytes that the leader needs behind the frames in place, beside a longest one
    HeldFrames(
            final RingView ring,
            final Arena arena,
            final long ringBytes,
            final long frameMaxBytes,
            final long slotBytes,
            final long reservedBytes) {
        this.ring = ring;
        this.arena = arena;
        this.ringBytes = ringBytes;
        inPlaceMax = ringBytes - frameMaxBytes - SLOTS_MORE * slotBytes - reservedBytes;
    }

    /// Frames that the user has.
    long held() {
        return held;
    }

    /// Frames that became copies so far.
    long copiedFrames() {
        return copiedFrames;
    }

    /// Whether copies take as much memory as they may: no frame is given until the user releases some.
    boolean isFull() {
        return copiedBytes >= copiedMax;
    }

    /// A frame for the user.
    ///
    /// @param frame its bytes in the ring's view
    /// @param formatPlace of its format
    Held give(final long number, final MemorySegment frame, final int formatPlace) {
        final long offset = frame.address() - ring.view().address();
        formats += formatPlace == format ? 0 : 1;
        format = formatPlace;
        end = offset + frame.byteSize();
        final boolean copies = ring.isKept(offset, frame.byteSize());
        final MemorySegment buffer = copies ? buffer(frame.byteSize()) : null;
        final MemorySegment memory;
        if (buffer == null) {
            memory = frame;
        } else {
            final MemorySegment copy = buffer.asSlice(0, frame.byteSize());
            copy.copyFrom(ring.ring(offset, frame.byteSize()));
            memory = copy.asReadOnly();
            count(buffer.byteSize());
        }
        final Held made = new Held(number, offset, memory, formats, buffer);
        if (buffer == null) {
            inPlace[SegmentLayout.index(number)] = made;
        }
        held++;
        return made;
    }

    private MemorySegment buffer(final long bytes) {
        final int size = sizeIndex(bytes);
        while (spare.size() <= size) {
            spare.add(new ArrayDeque<>());
        }
        final MemorySegment used = spare.get(size).poll();
        if (used != null) {
            return used;
        }
        try {
            return Pages.allocate(arena, BUFFER_MIN << size);
        } catch (final OutOfMemoryError e) {
            throw new DeviceException(
                    "host group: no memory for a copy of a frame beside " + held
                            + " that are held; release frames, or raise ulimit -v",
                    e);
        }
    }

    // Of the smallest power of two, from the least size on, that holds so many bytes.
    private static int sizeIndex(final long bytes) {
        return Long.SIZE - Long.numberOfLeadingZeros((Math.max(bytes, 1) - 1) / BUFFER_MIN);
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
        final Held one = inPlace[SegmentLayout.index(oldest)];
        if (one == null || one.number != oldest) {
            return false;
        }
        final long used = Math.floorMod(end - one.offset - 1, ringBytes) + 1;
        return used > inPlaceMax || next - oldest > ENTRIES_MAX || formats - one.formats > FORMATS_MAX;
    }

    /// Makes an entry's frame, which is in place, a copy at its place. Its entry can be released then.
    ///
    /// @return false where there is no memory for that
    boolean keep(final long number) {
        final Held one = inPlace[SegmentLayout.index(number)];
        if (one == null || isFull() || !ring.keep(one.offset, one.memory.byteSize())) {
            return false;
        }
        inPlace[SegmentLayout.index(number)] = null;
        one.kept = true;
        count(one.memory.byteSize());
        return true;
    }

    /// The user gives a frame back.
    ///
    /// @return whether its entry is to be released
    boolean giveBack(final Held one) {
        held--;
        if (one.kept) {
            copiedBytes -= one.memory.byteSize();
            ring.giveBack(one.offset, one.memory.byteSize());
            return false;
        }
        if (one.buffer != null) {
            copiedBytes -= one.buffer.byteSize();
            spare.get(sizeIndex(one.buffer.byteSize())).add(one.buffer);
            return false;
        }
        inPlace[SegmentLayout.index(one.number)] = null;
        return true;
    }
}
