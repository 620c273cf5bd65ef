package io.framecast.reliability.assembly;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class ArrivalPlacementTest {
    private static final ArrivalPlacement.Copies REFUSED = (_, _, _, _) -> {
        throw new AssertionError("copied, though in place");
    };

    private final List<String> copies = new ArrayList<>();
    private final ArrivalPlacement placement = posted(new ArrivalPlacement(16, 2, 64));

    private static ArrivalPlacement posted(final ArrivalPlacement placement) {
        placement.repost(placement.repostable());
        return placement;
    }

    private void arrive(final long... sequences) {
        for (final long sequence : sequences) {
            placement.arrive();
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
        arrive(100, 101, 102);
        assertEquals(0, complete(100, 3));
        assertEquals(List.of(), copies);
        assertEquals(116, placement.creditLimit());
        placement.releaseRun(0, 3);
        assertEquals(3, placement.repostable());
        placement.repost(3);
        assertEquals(119, placement.creditLimit());
    }

    @Test
    void shouldReassembleAndFreeSlotsAtOnceWhenADatagramWasRepaired() {
        placement.start(0);
        arrive(0, 2, 3);
        assertEquals(16, placement.creditLimit());
        assertEquals(0, placement.placeRepair(0, 2));
        placement.repaired(1);
        assertEquals(17, placement.creditLimit());
        assertEquals(-1, complete(0, 4));
        assertEquals(List.of("0>0x1", "1>2x2"), copies);
        assertEquals(3, placement.repostable());
        assertEquals(1, placement.freeBuffers());
        placement.releaseBuffer(0);
        assertEquals(2, placement.freeBuffers());
        assertThrows(IllegalStateException.class, () -> placement.releaseBuffer(0));
    }

    @Test
    void shouldReassembleWhenAFrameWrapsTheRing() {
        placement.start(0);
        for (int i = 0; i < 14; i++) {
            arrive(i);
        }
        placement.releaseRun(complete(0, 14), 14);
        placement.repost(placement.repostable());
        arrive(14, 15, 16, 17);
        assertFalse(placement.isInPlace(14, 4));
        assertTrue(complete(14, 4) < 0);
        assertEquals(List.of("14>0x2", "0>2x2"), copies);
    }

    @Test
    void shouldReassembleWhenDatagramsLandOutOfOrder() {
        placement.start(0);
        arrive(1, 0);
        assertTrue(complete(0, 2) < 0);
        assertEquals(List.of("1>0x1", "0>1x1"), copies);
    }

    @Test
    void shouldKeepTheLastReassemblyBufferForTheOldestFrame() {
        placement.start(0);
        arrive(0, 2, 4, 6);
        // Frames of two slots at 0, 2, 4, 6; each lacks its second datagram.
        assertEquals(0, placement.placeRepair(2, 2));
        assertEquals(ArrivalPlacement.NONE, placement.placeRepair(4, 2));
        assertEquals(1, placement.placeRepair(0, 2));
        assertEquals(1, placement.placeRepair(0, 2));
        assertEquals(1, placement.refusedRepairs());
        placement.repaired(1);
        complete(0, 2);
        placement.repaired(3);
        complete(2, 2);
        assertFalse(placement.canComplete(100, 1));
        placement.releaseBuffer(1);
        assertEquals(1, placement.placeRepair(4, 2));
    }

    @Test
    void shouldTellWhoMayAskAgainInOrderWhenABufferIsFree() {
        placement.start(0);
        arrive(0, 2, 4, 6);
        assertEquals(0, placement.placeRepair(2, 2));
        assertEquals(ArrivalPlacement.NONE, placement.placeRepair(6, 2));
        assertEquals(ArrivalPlacement.NONE, placement.placeRepair(4, 2));
        assertEquals(ArrivalPlacement.NONE, placement.placeRepair(4, 2));
        // The last one is the oldest frame's, which does not wait.
        assertEquals(ArrivalPlacement.NONE, placement.takeRoom());
        assertEquals(1, placement.placeRepair(0, 2));
        placement.repaired(1);
        complete(0, 2);
        placement.repaired(3);
        complete(2, 2);
        assertEquals(ArrivalPlacement.NONE, placement.takeRoom());
        placement.releaseBuffer(1);
        assertEquals(4, placement.takeRoom());
        assertEquals(1, placement.placeRepair(4, 2));
        assertEquals(ArrivalPlacement.NONE, placement.takeRoom());
        placement.releaseBuffer(0);
        assertEquals(ArrivalPlacement.NONE, placement.takeRoom());
        placement.repaired(5);
        complete(4, 2);
        assertEquals(6, placement.takeRoom());
    }

    @Test
    void shouldForgetWhoWaitsWhenItsFrameIsOver() {
        placement.start(0);
        arrive(0, 2, 4);
        assertEquals(0, placement.placeRepair(0, 2));
        assertEquals(ArrivalPlacement.NONE, placement.placeRepair(2, 2));
        assertEquals(ArrivalPlacement.NONE, placement.placeRepair(4, 2));
        placement.skip(0, 4);
        assertEquals(4, placement.takeRoom());
        assertEquals(ArrivalPlacement.NONE, placement.takeRoom());
        assertEquals(1, placement.freeBuffers());
    }

    @Test
    void shouldRememberTheOldestWhenManyFramesWait() {
        placement.start(0);
        for (int first = 200; first > 0; first -= 2) {
            assertEquals(first == 200 ? 0 : ArrivalPlacement.NONE, placement.placeRepair(first, 2));
        }
        placement.skip(0, 100);
        // 102 may not take the last one.
        assertEquals(100, placement.takeRoom());
        assertEquals(ArrivalPlacement.NONE, placement.takeRoom());
        placement.skip(100, 130);
        assertEquals(ArrivalPlacement.NONE, placement.takeRoom());
        assertEquals(1, placement.freeBuffers());
    }

    /// A user that holds two reassembled frames and waits for a third must not wait for the buffer of a frame
    /// behind it.
    @Test
    void shouldKeepABufferForTheOldestWhateverTheUserHolds() {
        final ArrivalPlacement kept = posted(new ArrivalPlacement(16, 4, 1, 64, false));
        kept.start(0);
        assertNotEquals(ArrivalPlacement.NONE, kept.placeRepair(5, 1));
        assertEquals(ArrivalPlacement.NONE, kept.placeRepair(6, 1), "one later frame at a time");
        for (int held = 0; held < 3; held++) {
            assertNotEquals(ArrivalPlacement.NONE, kept.placeRepair(held, 1), held + " held");
            kept.repaired(held);
            kept.complete(held, 1, REFUSED);
        }
    }

    @Test
    void shouldTellHowMuchMayBeAskedFor() {
        final ArrivalPlacement wide = posted(new ArrivalPlacement(16, 4, 2, 64, false));
        wide.start(0);
        assertEquals(3, wide.roomFrames());
        assertEquals(1, wide.roomSlots());
        assertEquals(0, wide.placeRepair(0, 9));
        assertEquals(9, wide.roomSlots());
        assertEquals(3, wide.roomFrames());
        for (int i = 0; i < 9; i++) {
            wide.repaired(i);
        }
        final long handle = wide.complete(0, 9, REFUSED);
        assertEquals(3, wide.roomFrames());
        wide.releaseBuffer((int) (-1 - handle));
        assertEquals(3, wide.roomFrames());
        for (int i = 9; i < 11; i++) {
            wide.arrive();
            wide.accept(i);
            wide.releaseRun(wide.complete(i, 1, REFUSED), 1);
        }
        assertEquals(7, wide.roomSlots());
    }

    @Test
    void shouldLeaveRoomForTheOldestWhenAllAreHeld() {
        placement.start(0);
        for (int i = 0; i < 2; i++) {
            placement.placeRepair(i, 1);
            placement.repaired(i);
            complete(i, 1);
        }
        assertEquals(0, placement.freeBuffers());
        assertEquals(1, placement.roomFrames());
    }

    @Test
    void shouldTellTheLengthOfAFrameThatWaited() {
        placement.start(0);
        placement.placeRepair(0, 2);
        assertEquals(ArrivalPlacement.NONE, placement.placeRepair(5, 7));
        assertEquals(ArrivalPlacement.NONE, placement.placeRepair(2, 3));
        placement.skip(0, 2);
        assertEquals(2, placement.takeRoom());
        assertEquals(3, placement.takenSlots());
        placement.skip(2, 5);
        assertEquals(5, placement.takeRoom());
        assertEquals(7, placement.takenSlots());
    }

    @Test
    void shouldBeMorePatientWithAFrameThatWillBeAnnounced() {
        placement.start(0);
        for (int first = 0; first <= 2 * ReassemblyBuffers.WAITING_MAX + 2; first += 2) {
            placement.placeRepair(first, 2);
        }
        assertEquals(500_000_000, placement.patienceNs(2));
        assertEquals(500_000_000, placement.patienceNs(2 * ReassemblyBuffers.WAITING_MAX));
        assertEquals(100_000_000, placement.patienceNs(2 * ReassemblyBuffers.WAITING_MAX + 2));
    }

    @Test
    void shouldGiveTheSlotsOfALostTailAgainWhenItWasRepaired() {
        placement.start(0);
        for (int i = 0; i < 16; i++) {
            assertEquals(16 + i, placement.creditLimit());
            placement.placeRepair(0, 2);
            placement.repaired(i);
        }
        assertEquals(32, placement.creditLimit());
        assertEquals(16, placement.postedFree());
    }

    @Test
    void shouldCountAnOverrunWhenNoSlotIsPosted() {
        placement.start(0);
        for (int i = 0; i < 16; i++) {
            arrive(i);
        }
        assertEquals(ArrivalPlacement.NONE, placement.arrive());
        assertEquals(1, placement.overruns());
        assertEquals(16, placement.creditLimit());
    }

    @Test
    void shouldFreeInArrivalOrderWhenALaterFrameIsReleasedFirst() {
        placement.start(0);
        arrive(0, 1, 2, 3);
        final long first = complete(0, 2);
        final long second = complete(2, 2);
        placement.releaseRun(second, 2);
        assertEquals(0, placement.repostable());
        placement.releaseRun(first, 2);
        assertEquals(4, placement.repostable());
    }

    @Test
    void shouldWaitForNothingThatWasGivenUp() {
        placement.start(100);
        arrive(100, 102);
        assertEquals(0, placement.placeRepair(100, 2));
        placement.repaired(101);
        placement.skip(100, 104);
        assertEquals(2, placement.freeBuffers());
        assertEquals(2, placement.repostable());
        assertEquals(14, placement.postedFree());
        assertEquals(104 + 14, placement.creditLimit());
        assertEquals(0, placement.repostSlot());
        placement.repost(2);
        assertEquals(2, placement.repostSlot());
        assertEquals(104 + 16, placement.creditLimit());
        arrive(104, 105);
        assertEquals(2, complete(104, 2));
        assertEquals(List.of(), copies);
    }

    @Test
    void shouldFreeTheWholeWindowWhenMoreThanAllOfItIsGivenUp() {
        placement.start(100);
        arrive(100, 163);
        placement.skip(100, 1100);
        assertEquals(2, placement.repostable());
        assertEquals(1100 + 14, placement.creditLimit());
    }

    @Test
    void shouldForgetWhereAFrameLayWhenTheWindowComesRound() {
        placement.start(0);
        for (long first = 0; first < 64; first += 2) {
            if (first % 4 == 0) {
                arrive(first, first + 1);
                placement.releaseRun(complete(first, 2), 2);
            } else {
                arrive(first + 1, first);
                final long reassembled = complete(first, 2);
                assertTrue(reassembled < 0);
                placement.releaseBuffer((int) (-1 - reassembled));
            }
            placement.repost(placement.repostable());
        }
        assertEquals(64 + 16, placement.creditLimit());
        placement.skip(64, 68);
        assertEquals(68 + 16, placement.creditLimit());
    }

    @Test
    void shouldGiveUpReassemblyBuffersOfFramesThatNeverWere() {
        placement.start(0);
        arrive(0, 1, 2, 3, 5, 4);
        assertEquals(0, placement.placeRepair(0, 2));
        assertEquals(0, complete(0, 2));
        assertEquals(2, placement.freeBuffers());
        // By a false header a frame begins within another.
        assertEquals(0, placement.placeRepair(3, 2));
        assertEquals(2, complete(2, 2));
        assertEquals(2, placement.freeBuffers());
        assertEquals(0, placement.placeRepair(5, 2));
        assertEquals(-2, complete(4, 2));
        assertEquals(1, placement.freeBuffers());
    }

    @Test
    void shouldLieInPlaceUpToTheEndOfTheRing() {
        placement.start(0);
        for (int i = 0; i < 16; i++) {
            arrive(i);
        }
        assertTrue(placement.isInPlace(0, 16));
        assertTrue(placement.isInPlace(10, 6));
    }

    @Test
    void shouldLieInPlaceAcrossTheEndWhenTheRingIsMappedTwice() {
        final ArrivalPlacement twice = posted(new ArrivalPlacement(8, 1, 0, 64, true));
        twice.start(0);
        for (int i = 0; i < 6; i++) {
            twice.arrive(i);
            twice.accept(i);
        }
        twice.releaseRun(twice.complete(0, 6, REFUSED), 6);
        assertEquals(6, twice.repostRun());
        twice.repost(6);
        for (int i = 6; i < 10; i++) {
            twice.arrive(i % 8);
            twice.accept(i);
        }
        final long wrapped = twice.complete(6, 4, REFUSED);
        assertEquals(6, twice.slotOf(wrapped));
        twice.releaseRun(wrapped, 4);
        assertEquals(4, twice.repostable());
        assertEquals(6, twice.repostSlot());
        assertEquals(4, twice.repostRun());
    }

    @Test
    void shouldFollowTheSlotsThatALaneHandsOutWhenItPostedSomeAgain() {
        final ArrivalPlacement lane = posted(new ArrivalPlacement(8, 1, 64));
        lane.start(0);
        // The lane dropped the datagram in slot 2, and posted that slot again behind 7.
        final int[] arrived = {0, 1, 3, 4, 5, 6, 7, 2};
        for (int i = 0; i < arrived.length; i++) {
            lane.arrive(arrived[i]);
            lane.accept(i);
        }
        lane.releaseRun(lane.complete(0, 2, REFUSED), 2);
        final long whole = lane.complete(2, 3, REFUSED);
        assertEquals(3, lane.slotOf(whole));
        assertFalse(lane.isInPlace(5, 3));
        assertTrue(lane.canComplete(5, 3));
        lane.complete(5, 3, (from, buffer, index, run) -> copies.add(from + ">" + index + "x" + run));
        assertEquals(List.of("6>0x2", "2>2x1"), copies);
        assertEquals(2, lane.repostRun());
        lane.repost(2);
        lane.releaseRun(whole, 3);
        assertEquals(3, lane.repostSlot());
        assertEquals(5, lane.repostRun());
        lane.repost(5);
        assertEquals(2, lane.repostSlot());
        assertEquals(1, lane.repostRun());
        lane.repost(1);
        assertEquals(8, lane.postedFree());
    }

    @Test
    void shouldRefuseAnArrivalWhenNoSlotIsPosted() {
        final ArrivalPlacement none = new ArrivalPlacement(8, 1, 64);
        assertEquals(8, none.repostRun());
        assertThrows(IllegalStateException.class, () -> none.arrive(0));
    }

    @Test
    void shouldFreeTheSlotAtOnceWhenADatagramIsNotNeeded() {
        placement.start(0);
        assertEquals(0, placement.arrive());
        assertEquals(0, placement.repostable());
        placement.reject();
        assertEquals(1, placement.repostable());
        assertEquals(1, placement.arrive());
    }

    @Test
    void shouldRefuseWhatCannotBe() {
        assertThrows(IllegalArgumentException.class, () -> new ArrivalPlacement(0, 1, 64));
        assertThrows(IllegalArgumentException.class, () -> new ArrivalPlacement(8, 0, 64));
        assertThrows(IllegalArgumentException.class, () -> new ArrivalPlacement(8, 1, 48));
        assertThrows(IllegalArgumentException.class, () -> new ArrivalPlacement(9, 1, 8));
        placement.start(0);
        arrive(0, 1);
        final long held = complete(0, 2);
        assertThrows(IllegalStateException.class, () -> placement.releaseRun(held + 1, 2));
        placement.releaseRun(held, 2);
        assertThrows(IllegalStateException.class, () -> placement.releaseRun(held, 2));
        assertThrows(IllegalStateException.class, () -> placement.repost(-1));
        assertThrows(IllegalStateException.class, () -> placement.repost(3));
        placement.repost(0);
        assertEquals(2, placement.repostable());
    }

    @Test
    void shouldKeepWhatCameBehindFramesThatAreGivenUp() {
        placement.start(0);
        arrive(0, 2, 3);
        placement.skip(0, 2);
        assertEquals(1, placement.repostable());
        assertEquals(1, complete(2, 2));
    }

    @Test
    void shouldPlaceEveryByteAndNeverLeakWhenLinksLoseAndUsersDwell() {
        for (long seed = 1; seed <= 300; seed++) {
            new Model(seed).run();
        }
    }

    /// Sequences through a lossy FIFO, with real payloads: one long per slot. The lane drops some after they
    /// arrived, and posts their slots again behind the others.
    private static final class Model {
        private static final int RING = 24;
        private static final int FRAME_MAX = 6;

        private final SplittableRandom random;
        private final ArrivalPlacement placement;
        private final Deque<Integer> queue = new ArrayDeque<>();
        private final long[] ring = new long[RING];
        private final long[][] buffers = new long[2][FRAME_MAX];
        private final boolean[] here = new boolean[4096];
        private final List<Runnable> held = new ArrayList<>();
        private final long seed;
        private long frameFirst;
        private int frameSlots;
        private long sent;

        Model(final long seed) {
            this.seed = seed;
            random = new SplittableRandom(seed);
            placement = new ArrivalPlacement(RING, 2, 1, 32, seed % 2 == 0);
            post();
        }

        private void post() {
            while (placement.repostable() > 0) {
                final int run = 1 + random.nextInt(placement.repostRun());
                for (int i = 0; i < run; i++) {
                    queue.add((placement.repostSlot() + i) % RING);
                }
                placement.repost(run);
            }
            assertEquals(queue.size(), placement.postedFree(), "seed " + seed);
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
                post();
                if (sent < frameFirst + frameSlots) {
                    arrive(sent++);
                }
                repair();
                deliver();
            }
            held.forEach(Runnable::run);
            assertEquals(2, placement.freeBuffers(), "seed " + seed);
            assertEquals(0, placement.overruns(), "seed " + seed);
        }

        private void step() {
            if ((random.nextInt(8) == 0 && !held.isEmpty()) || held.size() > 1) {
                held.remove(random.nextInt(held.size())).run();
            }
            post();
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
            while (random.nextInt(10) == 0) {
                queue.add(queue.remove());
            }
            final int slot = queue.remove();
            ring[slot] = sequence;
            placement.arrive(slot);
            placement.accept(sequence);
            here[(int) sequence] = true;
        }

        private void repair() {
            for (long sequence = frameFirst; sequence < sent; sequence++) {
                if (!here[(int) sequence] && random.nextBoolean()) {
                    final long first = frameOf(sequence);
                    final int buffer = placement.placeRepair(first, 2);
                    if (buffer == ArrivalPlacement.NONE) {
                        continue;
                    }
                    buffers[buffer][(int) (sequence - first)] = sequence;
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
                        (from, buffer, index, run) -> System.arraycopy(ring, from, buffers[buffer], (int) index, run));
                check(first, slots, handle);
                held.add(() -> {
                    check(first, slots, handle);
                    if (handle >= 0) {
                        placement.releaseRun(handle, slots);
                    } else {
                        placement.releaseBuffer((int) (-1 - handle));
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
            final long[] actual = handle >= 0 ? new long[slots] : Arrays.copyOf(buffers[(int) (-1 - handle)], slots);
            for (int i = 0; handle >= 0 && i < slots; i++) {
                actual[i] = ring[(placement.slotOf(handle) + i) % RING];
            }
            assertEquals(Arrays.toString(expected), Arrays.toString(actual), "seed " + seed);
        }
    }
}
