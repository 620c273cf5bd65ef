package io.framecast.gpu.arrival;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/// The host's half of a litmus test: frames of patterns in a few places that are used again the moment they
/// come back, with random delays between all steps. The device's half checks every word the moment it may.
final class Litmus {
    /// Mistakes to be caught.
    enum Plant {
        NONE,
        /// The entry is published before its record.
        ENTRY_BEFORE_RECORD,
        /// The entry is published before the frame's bytes.
        ENTRY_BEFORE_BYTES,
        /// The device returns a frame before it has read it.
        RETURN_BEFORE_READ
    }

    static final int ENTRIES = 4;
    static final int WORDS = 256;
    private static final long DELAY_MAX = 400;

    private final PlainMemory memory;
    private final ArrivalRing ring;
    private final ArrivalRecord record = new ArrivalRecord();
    private final SplittableRandom random;
    private final Plant plant;
    private final Pause pause = new Pause();

    Litmus(final PlainMemory memory, final ArrivalRing ring, final Plant plant, final long seed) {
        this.memory = memory;
        this.ring = ring;
        this.plant = plant;
        random = new SplittableRandom(seed);
    }

    static PlainMemory memory() {
        return new PlainMemory(ENTRIES, (long) ENTRIES * WORDS * Long.BYTES);
    }

    /// Word `index` of frame `frameId`.
    static long pattern(final long frameId, final int index) {
        final long mixed = (frameId * WORDS + index + 1) * 0x9e37_79b9_7f4a_7c15L;
        return mixed ^ mixed >>> 29;
    }

    /// Offers frames, then asks the device to end.
    void run(final int rounds) {
        for (int frameId = 0; frameId < rounds; frameId++) {
            while (ring.room() == 0) {
                if (ring.collect(_ -> {}) > 0) {
                    pause.reset();
                } else {
                    pause.rest();
                }
            }
            offer(frameId);
            delay();
        }
        ring.stop(ArrivalLayout.STOP_DRAIN);
    }

    private void offer(final long frameId) {
        final MemorySegment frame =
                memory.frames().asSlice((long) ring.nextSlot() * WORDS * Long.BYTES, (long) WORDS * Long.BYTES);
        record.event(ArrivalLayout.KIND_FRAME, 0);
        record.address = frame.address();
        record.length = frame.byteSize();
        record.frameId = frameId;
        switch (plant) {
            case ENTRY_BEFORE_RECORD -> {
                write(frame, frameId);
                final ArrivalRecord early = new ArrivalRecord();
                early.event(ArrivalLayout.KIND_FRAME, 0);
                early.slot = ring.nextSlot();
                early.sequence = ring.nextSequence();
                ring.writeEntry(early);
                delay();
                record.write(memory.area(), ArrivalLayout.recordOffset(ENTRIES, early.slot));
            }
            case ENTRY_BEFORE_BYTES -> {
                ring.offer(record);
                delay();
                write(frame, frameId);
            }
            case NONE, RETURN_BEFORE_READ -> {
                write(frame, frameId);
                delay();
                ring.writeRecord(record);
                delay();
                ring.writeEntry(record);
            }
        }
    }

    private static void write(final MemorySegment frame, final long frameId) {
        for (int i = 0; i < WORDS; i++) {
            frame.setAtIndex(ValueLayout.JAVA_LONG, i, pattern(frameId, i));
        }
    }

    private void delay() {
        // Mostly none: the tightest race is wanted as well.
        final long spins = random.nextInt(4) == 0 ? random.nextLong(DELAY_MAX) : 0;
        for (long i = 0; i < spins; i++) {
            Thread.onSpinWait();
        }
        // Long enough for the other end to run into a mistake that was planted.
        if (random.nextInt(plant == Plant.NONE ? 64 : 4) == 0) {
            LockSupport.parkNanos(plant == Plant.NONE ? 1_000 : 20_000);
        }
    }
}
