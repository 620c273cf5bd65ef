package io.framecast.gpu.arrival;

import io.framecast.api.spi.KernelSource.DeviceMemory;
import io.framecast.gpu.SharedWords;
import java.lang.foreign.MemorySegment;

/// The functions of `framecast.cuh` (wait, match, view, release) for a kernel's emulation in Java. An emulation
/// runs once for the whole grid, so it is the only consumer.
///
/// Used by the kernel's thread.
public final class EmulatedArrivals {
    private final DeviceMemory memory;
    private final MemorySegment area;
    private final int entries;
    private final int resume;

    // [entries] words 0 and 1 of the fetched entries, and which of these were taken.
    private final long[] words;
    private final boolean[] taken;
    private int head;
    private int tail;

    private EmulatedArrivals(final DeviceMemory memory, final MemorySegment area, final int entries) {
        this.memory = memory;
        this.area = area;
        this.entries = entries;
        resume = SharedWords.intAt(area, ArrivalLayout.RESUME_OFFSET);
        words = new long[2 * entries];
        taken = new boolean[entries];
        head = SharedWords.intAt(area, ArrivalLayout.FIRST_OFFSET);
        tail = head;
    }

    /// Begins.
    ///
    /// @param address the kernel's first argument
    public static EmulatedArrivals open(final DeviceMemory memory, final long address) {
        final MemorySegment header = memory.at(address, ArrivalLayout.HEADER_BYTES);
        final int entries = SharedWords.intAt(header, ArrivalLayout.ENTRIES_OFFSET);
        return new EmulatedArrivals(memory, memory.at(address, ArrivalLayout.areaBytes(entries)), entries);
    }

    /// The order of the host: 0, [ArrivalLayout#STOP_DRAIN] or [ArrivalLayout#STOP_NOW].
    public int stopping() {
        return SharedWords.intAt(area, ArrivalLayout.STOP_OFFSET);
    }

    /// Takes the oldest entry that matches and was not taken before.
    public boolean test(final ArrivalMatch match, final ArrivalRecord out) {
        fetch();
        for (int position = tail; position != head; position++) {
            final int slot = position & (entries - 1);
            if (!taken[slot] && match.takes(words[2 * slot], words[2 * slot + 1])) {
                view(slot, out);
                taken[slot] = true;
                while (tail != head && taken[tail & (entries - 1)]) {
                    tail++;
                }
                return true;
            }
        }
        return false;
    }

    /// Waits for an entry that matches; false when the host wants the kernel to end, or closes the device.
    public boolean await(final ArrivalMatch match, final ArrivalRecord out) {
        final Pause pause = new Pause();
        while (true) {
            final int stop = stopping();
            if (stop == ArrivalLayout.STOP_NOW || Thread.currentThread().isInterrupted()) {
                return false;
            }
            if (test(match, out)) {
                return true;
            }
            if (stop == ArrivalLayout.STOP_DRAIN) {
                return false;
            }
            pause.rest();
        }
    }

    /// The frame's bytes.
    public MemorySegment data(final ArrivalRecord frame) {
        return memory.at(frame.address, frame.length);
    }

    /// Gives an entry, and the memory of its frame, back. In any order.
    public void release(final ArrivalRecord frame) {
        SharedWords.intAt(area, ArrivalLayout.returnOffset(entries, frame.slot), frame.sequence);
    }

    private void fetch() {
        while (head - tail < entries) {
            final int slot = head & (entries - 1);
            final long word0 = SharedWords.longAt(area, ArrivalLayout.entryOffset(slot));
            if (ArrivalLayout.sequence(word0) != head + 1) {
                return;
            }
            words[2 * slot] = word0;
            words[2 * slot + 1] = SharedWords.longAt(area, ArrivalLayout.entryOffset(slot) + Long.BYTES);
            // An earlier kernel may have returned it.
            taken[slot] =
                    resume - head > 0 && SharedWords.intAt(area, ArrivalLayout.returnOffset(entries, slot)) == head + 1;
            head++;
        }
    }

    private void view(final int slot, final ArrivalRecord out) {
        final long word0 = words[2 * slot];
        final long word1 = words[2 * slot + 1];
        out.sequence = ArrivalLayout.sequence(word0);
        out.slot = ArrivalLayout.slot(word0);
        out.kind = ArrivalLayout.kind(word0);
        out.source = ArrivalLayout.source(word1);
        out.channel = ArrivalLayout.channel(word1);
        out.tag = ArrivalLayout.tag(word1);
        out.read(area, ArrivalLayout.recordOffset(entries, out.slot));
    }
}
