package io.framecast.reliability.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.reliability.lane.SendLanePort;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Slots that may be written again while a lane has not read all its slots.
class SlotsInFlightTest {
    private static final int SLOTS = 8;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment headers = arena.allocate((long) SLOTS * DataLayout.LENGTH);
    private final SendWindow window =
            new SendWindow(new WindowMemory(headers, MemorySegment.NULL, new int[SLOTS], SLOTS, 64), 1);
    private final ReadLane lane = new ReadLane();
    private final SlotsInFlight inFlight = new SlotsInFlight(lane, SLOTS);

    @AfterEach
    void close() {
        arena.close();
    }

    private void commit(final int datagrams) {
        for (int i = 0; i < datagrams; i++) {
            window.beginFrame(64, 0, 0, new byte[0]);
            window.commit(64, 1);
        }
    }

    private void send(final long firstSequence, final int count) {
        lane.submitted += count;
        inFlight.onSent(window.slot(firstSequence), count);
    }

    private long free(final long limit) {
        window.free(inFlight.freeable(window, limit));
        return window.freed();
    }

    @Test
    void shouldKeepWhatTheLaneHasNotRead() {
        commit(5);
        send(0, 5);
        assertEquals(0, free(5));
        lane.completed = 2;
        assertEquals(2, free(5));
        lane.completed = 4;
        assertEquals(3, free(3), "no more than what members have");
        lane.completed = 5;
        assertEquals(5, free(5));
    }

    @Test
    void shouldKeepNothingForALaneThatCopies() {
        commit(5);
        lane.submitted = 5;
        lane.completed = 5;
        inFlight.onSent(0, 5);
        assertEquals(5, free(5));
    }

    @Test
    void shouldKeepWhatIsSentAgainUntilTheLastReadOfIt() {
        commit(4);
        send(0, 4);
        send(1, 2);
        lane.completed = 4;
        assertEquals(1, free(4));
        lane.completed = 5;
        assertEquals(2, free(4));
        lane.completed = 6;
        assertEquals(4, free(4));
    }

    @Test
    void shouldForgetEarlierUsesOfASlotWhenTheWindowGoesRound() {
        commit(7);
        send(0, 7);
        lane.completed = 7;
        assertEquals(7, free(7));
        commit(5);
        send(7, 1);
        send(8, 4);
        lane.completed = 8;
        assertEquals(8, free(12));
        lane.completed = 10;
        assertEquals(10, free(12));
    }

    @Test
    void shouldKeepNothingOfWhatWasNeverHandedOver() {
        commit(6);
        send(0, 2);
        inFlight.onSent(window.slot(2), 0);
        lane.completed = 1;
        assertEquals(1, free(6));
        lane.completed = 2;
        assertEquals(6, free(6));
    }

    private static final class ReadLane implements SendLanePort {
        private long submitted;
        private long completed;

        @Override
        public long submitted() {
            return submitted;
        }

        @Override
        public long completed() {
            return completed;
        }

        @Override
        public int multicast(final int firstSlot, final int count) {
            throw new AssertionError("multicast");
        }

        @Override
        public int unicast(final int peer, final int firstSlot, final int count) {
            throw new AssertionError("unicast");
        }

        @Override
        public int connect(final byte[] address) {
            throw new AssertionError("connect");
        }

        @Override
        public void disconnect(final int peer) {
            throw new AssertionError("disconnect");
        }
    }
}
