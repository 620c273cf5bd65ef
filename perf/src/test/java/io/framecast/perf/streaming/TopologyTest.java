package io.framecast.perf.streaming;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.perf.models.CostModel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class TopologyTest {
    @Test
    void shouldReachEveryProcessOnceFromItsParent() {
        for (int radix = 1; radix <= 5; radix++) {
            for (int processes = 2; processes <= 40; processes++) {
                final Topology topology = new Topology(radix, processes);
                final Set<Integer> reached = new HashSet<>(Set.of(0));
                final Deque<Integer> open = new ArrayDeque<>(reached);
                while (!open.isEmpty()) {
                    final int rank = open.pop();
                    for (final int child : topology.children(rank)) {
                        assertEquals(rank, topology.parent(child), () -> topology + ", child " + child);
                        assertTrue(reached.add(child), () -> topology + " reaches " + child + " twice");
                        open.push(child);
                    }
                }
                assertEquals(processes, reached.size(), topology::toString);
            }
        }
    }

    @Test
    void shouldSendToTheLargestPartFirst() {
        assertEquals(List.of(4, 2, 1), new Topology(2, 8).children(0));
        assertEquals(List.of(6, 5), new Topology(2, 8).children(4));
        assertEquals(List.of(3, 6, 1, 2), new Topology(3, 9).children(0));
        assertEquals(List.of(), new Topology(2, 8).children(7));
        assertEquals(List.of(3), new Topology(1, 4).children(2));
    }

    @Test
    void shouldNotMakeTheSourceSendOftenerThanTheModelSays() {
        for (int processes = 2; processes <= 40; processes++) {
            assertEquals(
                    CostModel.steps(2, processes),
                    new Topology(2, processes).children(0).size());
        }
    }
}
