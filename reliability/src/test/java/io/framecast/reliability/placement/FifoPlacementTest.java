package io.framecast.reliability.placement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class FifoPlacementTest {
    private final List<String> copies = new ArrayList<>();
    private final FifoPlacement placement = new FifoPlacement(16, 2, 64);

    private void land(final long... sequences) {
        for (final long sequence : sequences) {
            placement.land();
            placement.accept(sequence);
        }
    }

    private long complete(final long first, final long slots) {
        assertTrue(placement.canComplete(first, slots));
        return placement.complete(
                first, slots, (from, buffer, index, run) -> copies.add(from + ">" + index + "x" + run));
    }

    @Test
    void shouldDeliverInPlaceWhenDatagramsLandOneAfterAnother() {
        placement.start(100);
        land(100, 101, 102);
        assertEquals(0, complete(100, 3));
        assertEquals(List.of(), copies);
        assertEquals(116, placement.creditLimit());
        placement.releaseRun(0, 3);
        assertEquals(3, placement.repostable());
        placement.repost(3);
        assertEquals(119, placement.creditLimit());
    }

    @Test
    void shouldMendAndFreeSlotsAtOnceWhenADatagramWasRepaired() {
        placement.start(0);
        land(0, 2, 3);
        assertEquals(16, placement.creditLimit());
        assertEquals(0, placement.placeRepair(0));
        placement.repaired(1);
        assertEquals(17, placement.creditLimit());
        assertEquals(-1, complete(0, 4));
        assertEquals(List.of("0>0x1", "1>2x2"), copies);
        assertEquals(3, placement.repostable());
        assertEquals(1, placement.mendFree());
        placement.releaseMend(0);
        assertEquals(2, placement.mendFree());
        assertThrows(IllegalStateException.class, () -> placement.releaseMend(0));
    }

    @Test
    void shouldMendWhenAFrameWrapsTheRing() {
        placement.start(0);
        for (int i = 0; i < 14; i++) {
            land(i);
        }
        placement.releaseRun(complete(0, 14), 14);
        placement.repost(placement.repostable());
        land(14, 15, 16, 17);
        assertFalse(placement.isInPlace(14, 4));
        assertTrue(complete(14, 4) < 0);
        assertEquals(List.of("14>0x2", "0>2x2"), copies);
    }

    @Test
    void shouldMendWhenDatagramsLandOutOfOrder() {
        placement.start(0);
        land(1, 0);
        assertTrue(complete(0, 2) < 0);
        assertEquals(List.of("1>0x1", "0>1x1"), copies);
    }

    @Test
    void shouldKeepTheLastMendBufferForTheOldestFrame() {
        placement.start(0);
        land(0, 2, 4, 6);
        // Frames of two slots at 0, 2, 4, 6; each lacks its second datagram.
        assertEquals(0, placement.placeRepair(2));
        assertEquals(FifoPlacement.NONE, placement.placeRepair(4));
        assertEquals(1, placement.placeRepair(0));
        assertEquals(1, placement.placeRepair(0));
        assertEquals(1, placement.refusedRepairs());
        placement.repaired(1);
        complete(0, 2);
        placement.repaired(3);
        complete(2, 2);
        assertFalse(placement.canComplete(100, 1));
        placement.releaseMend(1);
        assertEquals(1, placement.placeRepair(4));
    }

    @Test
    void shouldGiveTheSlotsOfALostTailAgainWhenItWasRepaired() {
        placement.start(0);
        for (int i = 0; i < 16; i++) {
            assertEquals(16 + i, placement.creditLimit());
            placement.placeRepair(0);
            placement.repaired(i);
        }
        assertEquals(32, placement.creditLimit());
        assertEquals(16, placement.postedFree());
    }

    @Test
    void shouldCountAnOverrunWhenNoSlotIsPosted() {
        placement.start(0);
        for (int i = 0; i < 16; i++) {
            land(i);
        }
        assertEquals(FifoPlacement.NONE, placement.land());
        assertEquals(1, placement.overruns());
        assertEquals(16, placement.creditLimit());
    }

    @Test
    void shouldFreeInArrivalOrderWhenALaterFrameIsReleasedFirst() {
        placement.start(0);
        land(0, 1, 2, 3);
        final long first = complete(0, 2);
        final long second = complete(2, 2);
        placement.releaseRun(second, 2);
        assertEquals(0, placement.repostable());
        placement.releaseRun(first, 2);
        assertEquals(4, placement.repostable());
    }

    @Test
    void shouldPlaceEveryByteAndNeverLeakWhenLinksLoseAndUsersDwell() {
        for (long seed = 1; seed <= 300; seed++) {
            new Model(seed).run();
        }
    }

    /// Sequences through a lossy FIFO, with real payloads: one long per slot.
    private static final class Model {
        private static final int RING = 24;
        private static final int FRAME_MAX = 6;

        private final SplittableRandom random;
        private final FifoPlacement placement = new FifoPlacement(RING, 2, 32);
        private final long[] ring = new long[RING];
        private final long[][] mends = new long[2][FRAME_MAX];
        private final boolean[] here = new boolean[4096];
        private final List<Runnable> held = new ArrayList<>();
        private final long seed;
        private long frameFirst;
        private int frameSlots;
        private long sent;

        Model(final long seed) {
            this.seed = seed;
            random = new SplittableRandom(seed);
        }

        // Frame lengths are a function of the first sequence.
        private int slots(final long first) {
            return 1 + (int) ((first * 31 + seed) % FRAME_MAX);
        }

        private long frameOf(final long sequence) {
            long first = frameFirst;
            while (first + slots(first) <= sequence) {
                first += slots(first);
            }
            return first;
        }

        void run() {
            placement.start(0);
            frameSlots = slots(0);
            while (frameFirst < 1000) {
                step();
            }
            while (frameFirst < sent) {
                if (!held.isEmpty()) {
                    held.removeFirst().run();
                }
                placement.repost(placement.repostable());
                if (sent < frameFirst + frameSlots) {
                    arrive(sent++);
                }
                repair();
                deliver();
            }
            held.forEach(Runnable::run);
            assertEquals(2, placement.mendFree(), "seed " + seed);
            assertEquals(0, placement.overruns(), "seed " + seed);
        }

        private void step() {
            if ((random.nextInt(8) == 0 && !held.isEmpty()) || held.size() > 1) {
                held.remove(random.nextInt(held.size())).run();
            }
            placement.repost(placement.repostable());
            if (random.nextInt(4) > 0 && sent < placement.creditLimit()) {
                arrive(sent++);
            } else {
                repair();
            }
            deliver();
        }

        private void arrive(final long sequence) {
            if (random.nextInt(5) == 0) {
                return;
            }
            final int slot = placement.land();
            ring[slot] = sequence;
            placement.accept(sequence);
            here[(int) sequence] = true;
        }

        private void repair() {
            for (long sequence = frameFirst; sequence < sent; sequence++) {
                if (!here[(int) sequence] && random.nextBoolean()) {
                    final long first = frameOf(sequence);
                    final int buffer = placement.placeRepair(first);
                    if (buffer == FifoPlacement.NONE) {
                        continue;
                    }
                    mends[buffer][(int) (sequence - first)] = sequence;
                    placement.repaired(sequence);
                    here[(int) sequence] = true;
                }
            }
        }

        private void deliver() {
            while (isWhole() && placement.canComplete(frameFirst, frameSlots)) {
                final long first = frameFirst;
                final int slots = frameSlots;
                final long handle = placement.complete(
                        first,
                        slots,
                        (from, buffer, index, run) -> System.arraycopy(ring, from, mends[buffer], (int) index, run));
                check(first, slots, handle);
                held.add(() -> {
                    check(first, slots, handle);
                    if (handle >= 0) {
                        placement.releaseRun(handle, slots);
                    } else {
                        placement.releaseMend((int) (-1 - handle));
                    }
                });
                frameFirst += slots;
                frameSlots = slots(frameFirst);
            }
        }

        private boolean isWhole() {
            for (int i = 0; i < frameSlots; i++) {
                if (!here[(int) frameFirst + i]) {
                    return false;
                }
            }
            return true;
        }

        private void check(final long first, final int slots, final long handle) {
            final long[] expected = new long[slots];
            Arrays.setAll(expected, i -> first + i);
            final long[] actual = handle >= 0
                    ? Arrays.copyOfRange(ring, (int) (handle % RING), (int) (handle % RING) + slots)
                    : Arrays.copyOf(mends[(int) (-1 - handle)], slots);
            assertEquals(Arrays.toString(expected), Arrays.toString(actual), "seed " + seed);
        }
    }
}
