package io.framecast.reliability.placement;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class AimedBatchTest {
    private static final int SCRATCH = 1000;

    private final List<String> copies = new ArrayList<>();

    private int plan(final int[] landings, final int[] slots) {
        final AimedBatch batch = new AimedBatch(64);
        batch.clear();
        for (int i = 0; i < landings.length; i++) {
            batch.add(landings[i], slots[i]);
        }
        return batch.plan(SCRATCH, (from, to) -> copies.add(from + ">" + to));
    }

    @Test
    void shouldCopyNothingWhenEverythingIsInPlace() {
        assertEquals(0, plan(new int[] {3, 4, 5}, new int[] {3, 4, 5}));
    }

    @Test
    void shouldMoveForwardFromTheLastWhenTwoWereLost() {
        assertEquals(3, plan(new int[] {1, 2, 3, 4}, new int[] {1, 4, 5, 6}));
        assertEquals(List.of("4>6", "3>5", "2>4"), copies);
    }

    @Test
    void shouldMoveBackwardFromTheFirstWhenADuplicateTookASlot() {
        assertEquals(3, plan(new int[] {2, 3, 4}, new int[] {1, 2, 3}));
        assertEquals(List.of("2>1", "3>2", "4>3"), copies);
    }

    @Test
    void shouldUseScratchWhenTwoChangedPlaces() {
        assertEquals(3, plan(new int[] {1, 2}, new int[] {2, 1}));
        assertEquals(3, copies.size());
    }

    @Test
    void shouldPutEveryPayloadInPlaceWithFewestCopiesWhenAnythingArrives() {
        for (long seed = 1; seed <= 3000; seed++) {
            final SplittableRandom random = new SplittableRandom(seed);
            final int space = 1 + random.nextInt(100);
            final int count = 1 + random.nextInt(Math.min(space, 64));
            final List<Integer> landings = shuffled(space, random);
            final List<Integer> targets = random.nextInt(4) == 0 ? new ArrayList<>(landings) : shuffled(space, random);
            if (random.nextBoolean()) {
                // What losses make: a shift that grows.
                Collections.sort(landings);
                targets.clear();
                int slot = 0;
                for (int i = 0; i < count; i++) {
                    slot += 1 + random.nextInt(2);
                    targets.add(slot);
                }
            }
            check(seed, landings.subList(0, count), targets.subList(0, count));
        }
    }

    @Test
    void shouldPutEveryPayloadInPlaceWhenSlotsLieFarApart() {
        final SplittableRandom random = new SplittableRandom(1);
        for (int round = 0; round < 100; round++) {
            // So that some share a place of the table.
            final List<Integer> slots = shuffled(SCRATCH, random).subList(0, 64);
            final List<Integer> targets = new ArrayList<>(slots);
            Collections.rotate(targets, 1 + random.nextInt(63));
            check(round, slots, targets);
        }
    }

    private static List<Integer> shuffled(final int space, final SplittableRandom random) {
        final List<Integer> slots = new ArrayList<>();
        for (int i = 0; i < space; i++) {
            slots.add(random.nextInt(slots.size() + 1), i);
        }
        return slots;
    }

    private static void check(final long seed, final List<Integer> landings, final List<Integer> targets) {
        final int[] memory = new int[SCRATCH + 1];
        final AimedBatch batch = new AimedBatch(64);
        batch.clear();
        int misplaced = 0;
        for (int i = 0; i < landings.size(); i++) {
            memory[landings.get(i)] = i + 1;
            batch.add(landings.get(i), targets.get(i));
            misplaced += landings.get(i).equals(targets.get(i)) ? 0 : 1;
        }
        final int copied = batch.plan(SCRATCH, (from, to) -> memory[to] = memory[from]);
        for (int i = 0; i < landings.size(); i++) {
            assertEquals(i + 1, memory[targets.get(i)], "seed " + seed);
        }
        assertEquals(misplaced + rings(landings, targets), copied, "seed " + seed);
    }

    // Closed chains of moves: each needs one copy more.
    private static int rings(final List<Integer> landings, final List<Integer> targets) {
        int rings = 0;
        for (int i = 0; i < landings.size(); i++) {
            int least = i;
            int current = i;
            do {
                current = landings.indexOf(targets.get(current));
                least = Math.min(least, current);
            } while (current > i);
            rings += current == i && least == i && !landings.get(i).equals(targets.get(i)) ? 1 : 0;
        }
        return rings;
    }
}
