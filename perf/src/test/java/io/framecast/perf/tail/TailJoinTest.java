package io.framecast.perf.tail;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.perf.tail.TailLog.Event;
import io.framecast.perf.tail.TailLog.Kind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// A frame every 10 µs unless said otherwise, at both subscribers 30 µs and 32 µs after it was committed.
final class TailJoinTest {
    private static final int FRAMES = 100;
    private static final int LEAD = 10;
    private static final TailSpec.Load SMALL = load(1408);
    // Four datagrams.
    private static final TailSpec.Load LARGE = load(5000);

    private final long[] committedNs = new long[FRAMES];
    private final long[] firstNs = new long[FRAMES];
    private final long[] secondNs = new long[FRAMES];
    private final List<Event> first = new ArrayList<>();
    private final List<Event> second = new ArrayList<>();

    TailJoinTest() {
        for (int i = 0; i < FRAMES; i++) {
            commit(i, 1_000_000 + 10_000L * i);
        }
    }

    // 100 000 a second: ten within the lead.
    private static TailSpec.Load load(final int frameBytes) {
        return new TailSpec.Load(frameBytes, 100_000, 10_000L * LEAD, 10_000L * (FRAMES - LEAD));
    }

    private void commit(final int frame, final long atNs) {
        committedNs[frame] = atNs;
        firstNs[frame] = atNs + 30_000;
        secondNs[frame] = atNs + 32_000;
    }

    private static void lose(final List<Event> events, final long sequence, final long frame, final long... repairsNs) {
        events.add(new Event(Kind.LOST, sequence, frame, 5_000_000));
        for (final long repairNs : repairsNs) {
            events.add(new Event(Kind.REPAIR, sequence, frame, 5_000_000 + repairNs));
        }
    }

    private TailJoin.Result join(final TailSpec.Load load) {
        return TailJoin.of(
                load,
                new TailLog(committedNs, List.of()),
                List.of(new TailLog(firstNs, first), new TailLog(secondNs, second)));
    }

    @Test
    void shouldKnowTheMachinesOwnDifferencesWhenNothingIsLost() {
        final TailJoin.Result result = join(SMALL);
        assertEquals(2 * (FRAMES - LEAD), result.unrepaired().count());
        assertEquals(2, result.unrepaired().maxUs());
        assertEquals(0, result.frames().gaps().count());
        assertEquals(0, result.frames().tails().count());
        assertTrue(Double.isNaN(result.datagrams().gaps().p99Us()));
    }

    @Test
    void shouldCompareARepairedFrameWithTheSubscriberThatDidNotLoseIt() {
        lose(first, 20, 20, 70_000);
        firstNs[20] += 80_000;
        lose(second, 50, 50, 90_000);
        secondNs[50] += 100_000;
        final TailJoin.Result result = join(SMALL);
        assertEquals(2, result.frames().gaps().count());
        assertEquals(0, result.frames().tails().count());
        assertEquals(102, result.frames().gaps().maxUs());
        assertEquals(102, result.frames().gaps().p50Us());
        assertEquals(2, result.datagrams().gaps().count());
        assertEquals(90, result.datagrams().gaps().maxUs());
        assertEquals(2, result.unrepaired().maxUs());
    }

    @Test
    void shouldNotTakeAFrameThatWaitedItsTurnForTheMachinesOwn() {
        lose(first, 20, 20, 70_000);
        firstNs[20] = 1_000_000 + 200_000 + 130_000;
        // Those behind were there, and had to wait for it.
        for (int i = 21; i < 30; i++) {
            firstNs[i] = Math.max(firstNs[i], firstNs[20] + 1_000);
        }
        final TailJoin.Result result = join(SMALL);
        assertEquals(2, result.unrepaired().maxUs());
        assertTrue(result.counts().behind() >= 9, () -> "" + result);
    }

    @Test
    void shouldTellTailsApartWhenNothingFollowedSoon() {
        for (int i = 21; i < FRAMES; i++) {
            commit(i, committedNs[i] + 200_000);
        }
        lose(first, 20, 20, 900_000);
        lose(first, 16, 16, 60_000);
        firstNs[20] += 900_000;
        firstNs[16] += 60_000;
        // Its followers are 17 … 20, all within 40 µs; those of 17 are not.
        lose(second, 17, 17, 800_000);
        secondNs[17] += 800_000;
        final TailJoin.Result result = join(SMALL);
        assertEquals(1, result.frames().gaps().count());
        assertEquals(2, result.frames().tails().count());
        assertEquals(900 - 2, result.frames().tails().maxUs());
        assertEquals(60, result.datagrams().gaps().maxUs());
        assertEquals(2, result.datagrams().tails().count());
    }

    @Test
    void shouldTakeDatagramsLostInARowForOneLoss() {
        for (int i = 21; i < FRAMES; i++) {
            commit(i, committedNs[i] + 200_000);
        }
        // The last of the row has no followers, so none has.
        for (long sequence = 80; sequence <= 83; sequence++) {
            lose(first, sequence, 20, 500_000);
        }
        lose(first, 60, 15, 50_000);
        final TailJoin.Result result = join(LARGE);
        assertEquals(4, result.datagrams().tails().count());
        assertEquals(1, result.datagrams().gaps().count());
        assertEquals(1, result.frames().tails().count());
        assertEquals(1, result.frames().gaps().count());
    }

    @Test
    void shouldWaitForTheRepairThatWasNotLostItself() {
        lose(first, 20, 20, 70_000, 300_000);
        first.add(new Event(Kind.LOST_REPAIR, 20, 20, 5_070_000));
        lose(first, 30, 30);
        final TailJoin.Result result = join(SMALL);
        assertEquals(1, result.datagrams().gaps().count());
        assertEquals(300, result.datagrams().gaps().maxUs());
        assertEquals(1, result.counts().unmatched());
    }

    @Test
    void shouldLeaveOutWhatEverybodyLostAndTheLead() {
        lose(first, 20, 20, 70_000);
        lose(second, 20, 20, 70_000);
        lose(first, LEAD - 1, LEAD - 1, 70_000);
        final TailJoin.Result result = join(SMALL);
        assertEquals(1, result.counts().everywhere());
        assertEquals(0, result.frames().gaps().count());
        assertEquals(2, result.datagrams().gaps().count());
    }

    @Test
    void shouldRefuseSequencesThatAreNotTheFrames() {
        lose(first, 80, 21, 70_000);
        assertThrows(IllegalArgumentException.class, () -> join(LARGE));
    }
}
