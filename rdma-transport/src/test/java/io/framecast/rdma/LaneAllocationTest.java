package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.NeedsGcc;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// That datagrams through lanes cost no garbage, to a group and to one, nor do lanes that wait for some, on the
/// stand-in.
@NeedsGcc
final class LaneAllocationTest {
    private static final int SLOTS = 16;
    private static final int HEADER_BYTES = 24;
    private static final int PAYLOAD_BYTES = 1024;
    private static final int BATCH = 8;
    private static final int ROUNDS = 20_000;
    private static final int TRIES_MAX = 5;
    private static final LaneRings RINGS = new LaneRings(SLOTS, HEADER_BYTES, PAYLOAD_BYTES);

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final Completions completions = new Completions(SLOTS);
    private final Arena arena = Arena.ofShared();
    private Transport near;
    private Transport far;

    private interface Round {
        /// @return what arrived as it should
        int run(int number);
    }

    @BeforeEach
    void open() {
        near = LaneRings.openTransport();
        far = LaneRings.openTransport();
    }

    @AfterEach
    void close() {
        near.close();
        far.close();
        arena.close();
    }

    private static long rounds(final Round round) {
        long arrived = 0;
        for (int i = 0; i < ROUNDS; i++) {
            arrived += round.run(i);
        }
        return arrived;
    }

    private void assertAllocatesNothing(final int arrivedEach, final Round round) {
        final long wanted = (long) ROUNDS * arrivedEach;
        assertEquals(wanted, rounds(round));
        // The first reading loads what the reading itself needs.
        threads.getCurrentThreadAllocatedBytes();
        long least = Long.MAX_VALUE;
        // The compiler may still change its mind about code it has just made, which costs some.
        for (int tries = 0; least > 0 && tries < TRIES_MAX; tries++) {
            final long before = threads.getCurrentThreadAllocatedBytes();
            final long arrived = rounds(round);
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            assertEquals(wanted, arrived);
        }
        assertEquals(0, least);
    }

    private int arrived(final Lane receiver, final int first) {
        completions.clear();
        receiver.poll(completions);
        int arrived = 0;
        for (int i = 0; i < completions.count(); i++) {
            arrived += completions.slot(i) == first + i && completions.bytes(i) == HEADER_BYTES + PAYLOAD_BYTES ? 1 : 0;
        }
        return arrived;
    }

    @Test
    void shouldAllocateNothingPerDatagram() {
        final Lane source = RINGS.source(near, arena);
        final Lane receiver = RINGS.receiver(far, arena, source);
        assertAllocatesNothing(BATCH, number -> {
            final int first = number % 2 * BATCH;
            receiver.post(first, BATCH);
            source.multicast(first, BATCH);
            return arrived(receiver, first);
        });
        assertEquals(source.submitted(), source.completed());
    }

    private Lane both(final LaneKind kind, final Transport transport) {
        return transport.open(
                new LaneConfig(kind, LaneConfig.Role.SOURCE, RINGS.send(arena), RINGS.receive(arena), null));
    }

    @ParameterizedTest
    @EnumSource(names = {"REPAIR", "CONTROL"})
    void shouldAllocateNothingToTheGroupAndToOne(final LaneKind kind) {
        final Lane sender = both(kind, near);
        final Lane receiver = both(kind, far);
        final int peer = sender.connect(receiver.address());
        receiver.post(0, 1);
        Wait.until("an address handle", () -> sender.unicast(peer, 0, 1) == 1);
        assertEquals(1, arrived(receiver, 0));
        assertAllocatesNothing(BATCH, number -> {
            final int first = number % 2 * BATCH;
            receiver.post(first, BATCH);
            sender.unicast(peer, first, BATCH / 2);
            sender.multicast(first + BATCH / 2, BATCH / 2);
            sender.completed();
            return arrived(receiver, first);
        });
        assertEquals(sender.submitted(), sender.completed());
    }

    /// The steps of a thread before it sleeps: it looks at the device's events, takes back its channel's signal,
    /// and arms it anew.
    @Test
    void shouldAllocateNothingWhereNothingComes() {
        final Lane source = RINGS.source(near, arena);
        final Lane receiver = RINGS.receiver(far, arena, source);
        final Lane control = both(LaneKind.CONTROL, far);
        receiver.post(0, SLOTS);
        control.post(0, SLOTS);
        assertAllocatesNothing(0, _ -> {
            receiver.armReady();
            control.armReady();
            source.completed();
            return arrived(receiver, 0) + arrived(control, 0);
        });
    }

    @Test
    void shouldAllocateNothingWhereEachDatagramWakesItsReceiver() {
        final Lane source = RINGS.source(near, arena);
        final Lane receiver = RINGS.receiver(far, arena, source);
        assertAllocatesNothing(1, number -> {
            final int slot = number % SLOTS;
            receiver.post(slot, 1);
            receiver.armReady();
            source.multicast(slot, 1);
            source.completed();
            return arrived(receiver, slot);
        });
    }
}
