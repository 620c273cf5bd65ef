package io.framecast.engine.memory;

import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.reliability.group.HeldFrames;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Another process's mirrored ring, mapped to be read, in which runs of bytes can be kept: [#keep] puts a copy of
/// their pages at their place, so that addresses and bytes stay the same when the other process writes there
/// again. Pages are shared by neighbours: a page is a copy as long as any run of it is kept, and a reader that
/// goes on in the ring asks [#isKept] and takes such bytes from [#ring].
///
/// Owns its descriptor until [#close]; the mappings are the arena's. One thread at a time; any thread reads.
public final class RingView implements HeldFrames.Ring, AutoCloseable {
    private final int descriptor;
    private final long bytes;
    private final Arena arena;
    private final MemorySegment view;
    private final long pageBytes = MirroredMemory.pageBytes();
    // The ring itself, without kept copies. Mapped by the first call that keeps some.
    private @Nullable MemorySegment pristine;
    // By page of the view: runs that are kept there.
    private short[] kept = {};

    private RingView(final int descriptor, final long bytes, final Arena arena, final MemorySegment view) {
        this.descriptor = descriptor;
        this.bytes = bytes;
        this.arena = arena;
        this.view = view;
    }

    /// @param descriptor of the ring's memory, this object's from now on, unless there is none
    /// @return null where it cannot be mapped
    public static @Nullable RingView of(final int descriptor, final long bytes, final Arena arena) {
        final MemorySegment mapped = MirroredMemory.view(descriptor, bytes, arena);
        return mapped == null ? null : new RingView(descriptor, bytes, arena, mapped);
    }

    /// The ring twice, back to back, with copies where runs are kept.
    public MemorySegment view() {
        return view;
    }

    /// The bytes in the ring now.
    public MemorySegment ring(final long offset, final long length) {
        return (pristine == null ? view : pristine).asSlice(offset, length);
    }

    @Override
    public boolean isKept(final long offset, final long length) {
        if (kept.length == 0) {
            return false;
        }
        for (int page = page(offset); page < pageBehind(offset, length); page++) {
            if (kept[page] != 0) {
                return true;
            }
        }
        return false;
    }

    /// @return false where the system has no memory for it, or allows no more mappings
    @Override
    public boolean keep(final long offset, final long length) {
        if (pristine == null) {
            pristine = MirroredMemory.view(descriptor, bytes, arena);
            if (pristine == null) {
                return false;
            }
            kept = new short[page(2 * bytes)];
        }
        final int first = page(offset);
        final int behind = pageBehind(offset, length);
        // Of pages within, all bytes are this run's: only the pages at the ends may be copies already.
        final int from = kept[first] == 0 ? first : first + 1;
        final int to = from < behind && kept[behind - 1] != 0 ? behind - 1 : behind;
        if (from < to && !copy(from, to)) {
            return false;
        }
        for (int page = first; page < behind; page++) {
            kept[page]++;
        }
        return true;
    }

    private boolean copy(final int from, final int to) {
        final long length = (to - from) * pageBytes;
        final long place = view.address() + from * pageBytes;
        final int flags = Linux.MAP_PRIVATE | Linux.MAP_ANONYMOUS | Linux.MAP_POPULATE;
        final long copy = Libc.mmap(0, length, Linux.PROT_READ_WRITE, flags, -1);
        if (copy == Linux.MAP_FAILED) {
            return false;
        }
        Libc.memcpy(copy, place, length);
        if (Libc.mremapOver(copy, length, place) == Linux.MAP_FAILED) {
            Libc.munmap(copy, length);
            return false;
        }
        return true;
    }

    /// The ring is seen at the run's place again, but in pages of which other runs are kept.
    @Override
    public void giveBack(final long offset, final long length) {
        final int behind = pageBehind(offset, length);
        int from = page(offset);
        int to = from;
        for (int page = from; page < behind; page++) {
            kept[page]--;
            if (kept[page] != 0) {
                show(from, to);
                from = page + 1;
            }
            to = page + 1;
        }
        show(from, to);
    }

    // The ring's pages, in its first half and its second one.
    private void show(final int from, final int to) {
        final int half = page(bytes);
        if (from < half && to > half) {
            show(from, half);
            show(half, to);
        } else if (from < to) {
            final long start = from * pageBytes;
            // Where the system refuses, the pages stay copies for ever, and readers take those bytes from the ring.
            if (Libc.mmapAt(
                            view.address() + start,
                            (to - from) * pageBytes,
                            Linux.PROT_READ,
                            Linux.MAP_SHARED,
                            descriptor,
                            start % bytes)
                    == Linux.MAP_FAILED) {
                for (int page = from; page < to; page++) {
                    kept[page]++;
                }
            }
        }
    }

    private int page(final long offset) {
        return (int) (offset / pageBytes);
    }

    private int pageBehind(final long offset, final long length) {
        return page(offset + length - 1) + 1;
    }

    /// The mappings stay until the arena closes.
    @Override
    public void close() {
        Libc.close(descriptor);
    }
}
