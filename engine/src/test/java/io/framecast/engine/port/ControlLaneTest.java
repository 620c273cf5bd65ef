package io.framecast.engine.port;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.SendRing;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities;
import io.framecast.api.spi.TransportCapabilities.Placement;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The control lane over a transport that reads posted datagrams only later, as a device does.
final class ControlLaneTest {
    private static final int SLOTS = 64;

    private final Reader reader = new Reader();
    private final ControlLane control =
            new ControlLane(reader, LaneConfig.Role.SOURCE, new LossInjector(0, 1), System::nanoTime);

    /// Reads a slot only on [#read].
    private static final class Reader implements Transport, Lane {
        private final Deque<Integer> waiting = new ArrayDeque<>();
        private SendRing ring;
        private long submitted;
        private int room = Integer.MAX_VALUE;

        /// Reads the oldest datagram that was sent.
        int read() {
            final int slot = Objects.requireNonNull(waiting.poll());
            return ring.payload().get(ValueLayout.JAVA_INT, (long) slot * ring.payloadBytes());
        }

        @Override
        public int readyDescriptor() {
            return -1;
        }

        @Override
        public TransportCapabilities capabilities() {
            return new TransportCapabilities("reader", true, false, false, false, 2, 0, 1_400, Placement.BY_ARRIVAL);
        }

        @Override
        public Lane open(final LaneConfig config) {
            ring = Objects.requireNonNull(config.send());
            return this;
        }

        @Override
        public int multicast(final int firstSlot, final int count) {
            final int accepted = Math.min(count, room - waiting.size());
            for (int i = 0; i < accepted; i++) {
                waiting.add(firstSlot + i);
                submitted++;
            }
            return accepted;
        }

        @Override
        public int unicast(final int peer, final int firstSlot, final int count) {
            return multicast(firstSlot, count);
        }

        @Override
        public long submitted() {
            return submitted;
        }

        @Override
        public long completed() {
            return submitted - waiting.size();
        }

        @Override
        public LaneAddress address() {
            return new LaneAddress(new byte[1]);
        }

        @Override
        public int post(final int firstSlot, final int count) {
            return count;
        }

        @Override
        public int poll(final Completions completions) {
            return 0;
        }

        @Override
        public int receiveCapacity() {
            return UNLIMITED;
        }

        @Override
        public int connect(final LaneAddress peer) {
            return 0;
        }

        @Override
        public void disconnect(final int peer) {
            // The lane has one peer only.
        }

        @Override
        public long counter(final LaneCounter counter) {
            return 0;
        }

        @Override
        public void close() {
            // Nothing to free.
        }
    }

    @AfterEach
    void close() {
        control.close();
    }

    private void send(final int value) {
        control.slot().set(ValueLayout.JAVA_INT, 0, value);
        if (value % 2 == 0) {
            control.multicast(4);
        } else {
            control.unicast(0, 4);
        }
    }

    @Test
    void shouldLoseWhatIsNewNotChangeWhatWaits() {
        for (int i = 0; i < SLOTS + 7; i++) {
            send(i);
        }
        assertEquals(7, control.lost());
        for (int i = 0; i < SLOTS; i++) {
            assertEquals(i, reader.read());
        }
        send(1_000);
        assertEquals(1_000, reader.read());
        assertEquals(7, control.lost());
    }

    @Test
    void shouldUseSlotsAgainAsTheyAreRead() {
        for (int i = 0; i < 10 * SLOTS; i++) {
            send(i);
            if (i >= SLOTS / 2) {
                assertEquals(i - SLOTS / 2, reader.read());
            }
        }
        assertEquals(0, control.lost());
    }

    @Test
    void shouldUseASlotAgainThatTheTransportRefused() {
        reader.room = 1;
        send(0);
        for (int i = 1; i < 3 * SLOTS; i++) {
            send(i);
        }
        assertEquals(0, reader.read());
        reader.room = 2 * SLOTS;
        for (int i = 0; i < SLOTS; i++) {
            send(100 + i);
        }
        assertEquals(SLOTS, reader.waiting.size());
        assertEquals(100, reader.read());
    }
}
