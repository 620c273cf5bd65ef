package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.NeedsGcc;
import java.lang.foreign.Arena;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Sleeping until a datagram comes, on the stand-in.
@NeedsGcc
final class LaneWakeupTest {
    private static final int SLOTS = 16;
    private static final LaneRings RINGS = new LaneRings(SLOTS, 24, 64);
    private static final int NAP_MS = 20_000;

    private final Completions completions = new Completions(SLOTS);
    private Arena arena;
    private Transport transport;
    private Lane source;
    private Lane receiver;

    @BeforeEach
    void open() {
        arena = Arena.ofShared();
        transport = LaneRings.openTransport();
        source = RINGS.source(transport, arena);
        receiver = RINGS.receiver(transport, arena, source);
        receiver.post(0, SLOTS);
    }

    @AfterEach
    void close() {
        transport.close();
        arena.close();
    }

    private int poll() {
        completions.clear();
        return receiver.poll(completions);
    }

    @Test
    void shouldTellOnlyOnceAndOnlyWhenAsked() {
        assertEquals(-1, source.readyDescriptor());
        final int descriptor = receiver.readyDescriptor();
        source.multicast(0, 1);
        assertFalse(ReadyCall.isReadable(descriptor));
        assertEquals(1, poll());
        receiver.armReady();
        assertEquals(0, poll());
        assertFalse(ReadyCall.isReadable(descriptor));
        source.multicast(1, 3);
        assertTrue(ReadyCall.isReadable(descriptor));
        assertEquals(3, poll());
        // Arming anew takes the former signal back.
        receiver.armReady();
        assertFalse(ReadyCall.isReadable(descriptor));
        source.multicast(4, 1);
        assertTrue(ReadyCall.isReadable(descriptor));
        receiver.close();
        assertEquals(-1, receiver.readyDescriptor());
        receiver.armReady();
    }

    @Test
    void shouldFindByTheLookAfterwardsWhatCameBeforeArming() {
        source.multicast(0, 2);
        receiver.armReady();
        assertFalse(ReadyCall.isReadable(receiver.readyDescriptor()));
        assertEquals(2, poll());
    }

    @Test
    void shouldLoseNoWakeWhenDatagramsComeWhileArming() throws Exception {
        final int rounds = 2_000;
        final AtomicBoolean go = new AtomicBoolean();
        final Thread sender = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < rounds; i++) {
                while (!go.compareAndSet(true, false)) {
                    Thread.onSpinWait();
                }
                source.multicast(i % SLOTS, 1);
            }
        });
        for (int i = 0; i < rounds; i++) {
            go.set(true);
            receiver.armReady();
            int count = poll();
            while (count == 0) {
                assertTrue(ReadyCall.isReadable(receiver.readyDescriptor(), NAP_MS), "woken in round " + i);
                count = poll();
            }
            assertEquals(1, count);
            receiver.post(completions.slot(0), 1);
        }
        sender.join();
    }
}
