package io.framecast.api.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.spi.ContractEnd.Shape;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

final class FifoTransportTest extends TransportContract {
    private static final int BYTES = 100;

    private final FifoNetwork network = FifoNetwork.lossless();

    @Override
    protected Transport openTransport() {
        return new FifoTransport(network);
    }

    @Test
    void shouldDropSilentlyWhenNothingIsPosted() {
        try (Transport transport = openTransport();
                ContractEnd source = ContractEnd.source(transport, LaneKind.DATA, Shape.DATA);
                ContractEnd receiver = ContractEnd.receiver(transport, LaneKind.DATA, Shape.DATA, source)) {
            receiver.lane().post(0, 2);
            for (int i = 0; i < 5; i++) {
                source.multicast(i, BYTES);
            }
            receiver.postAll().poll();
            assertEquals(List.of(0L, 1L), receiver.ids());
            assertEquals(3, receiver.lane().counter(LaneCounter.RECEIVE_OVERRUNS));
        }
    }

    @Test
    void shouldPlaceEarlyWhenSomeAreLost() {
        try (Transport transport = new FifoTransport(new FifoNetwork(3, new FifoNetwork.Faults(0.3, 0, 0)));
                ContractEnd source = ContractEnd.source(transport, LaneKind.DATA, Shape.DATA);
                ContractEnd receiver = ContractEnd.receiver(transport, LaneKind.DATA, Shape.DATA, source)) {
            receiver.postAll();
            for (int i = 0; i < ContractEnd.SLOTS; i++) {
                source.multicast(i, BYTES);
            }
            receiver.poll();
            final int arrived = receiver.arrived().size();
            assertTrue(arrived > 0 && arrived < ContractEnd.SLOTS, "arrived " + arrived);
            for (int k = 0; k < arrived; k++) {
                assertEquals(k, receiver.slots().get(k));
            }
        }
    }

    @Test
    void shouldAcceptFewerWhenTheQueueIsFull() {
        try (Transport transport = new FifoTransport(network, 10);
                ContractEnd source = ContractEnd.source(transport, LaneKind.REPAIR, Shape.DATA)) {
            assertEquals(8, source.lane().post(0, 8));
            assertEquals(2, source.lane().post(8, 8));
            assertEquals(0, source.lane().post(10, 1));
        }
    }

    @Test
    void shouldReplayWhenTheSeedIsTheSame() {
        final List<Long> first = faultyRun(7);
        assertEquals(first, faultyRun(7));
        assertNotEquals(first, faultyRun(8));
        assertTrue(new HashSet<>(first).size() < first.size(), "no duplicate in " + first);
        final List<Long> sorted = new ArrayList<>(first);
        sorted.sort(null);
        assertNotEquals(sorted, first);
    }

    private static List<Long> faultyRun(final long seed) {
        final FifoNetwork.Faults faults = new FifoNetwork.Faults(0.1, 0.1, 0.2);
        try (Transport transport = new FifoTransport(new FifoNetwork(seed, faults));
                ContractEnd source = ContractEnd.source(transport, LaneKind.DATA, Shape.DATA);
                ContractEnd receiver = ContractEnd.receiver(transport, LaneKind.DATA, Shape.DATA, source)) {
            receiver.postAll();
            for (int i = 0; i < 200; i++) {
                source.multicast(i, BYTES);
                if (i % 8 == 7) {
                    receiver.poll();
                    receiver.lane().post(0, 8);
                }
            }
            return receiver.ids();
        }
    }
}
