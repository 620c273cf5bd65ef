package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.error.TransportException;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.Fabric;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Lanes on a real device whose cable is out, whose address goes, and whose MTU shrinks. In the lab alone: there
/// device rxe1 is on interface ve1, with the address 10.1.1.1, and its cable is port1.
@Tag("rdma")
final class RdmaFaultTest {
    private static final int SLOTS = 16;
    private static final LaneRings RINGS = new LaneRings(SLOTS, 24, 64);
    private static final String ADDRESS = "10.1.1.1";
    // As the lab's network was made: an address that goes takes its routes along.
    private static final String ADD_ADDRESS = """
            address add 10.1.1.1/24 dev ve1
            route replace local 10.1.1.1 dev ve1 table 101
            route replace 10.1.1.0/24 dev ve1 src 10.1.1.1 table 101
            route replace 224.0.0.0/4 dev ve1 src 10.1.1.1 table 101
            """;

    private final Completions completions = new Completions(SLOTS);
    private final List<String> notices = new CopyOnWriteArrayList<>();
    private Arena arena;
    private Transport near;
    private Transport far;

    @BeforeEach
    void open() {
        Assumptions.assumeTrue("1".equals(System.getenv("FRAMECAST_LAB")), "not in the lab");
        final Fabric fabric = Fabric.real();
        arena = Arena.ofShared();
        final Channel channel = Channel.parse("framecast:verbs?group=239.77.5.6:4000|channel=rings|interface=rxe1");
        near = VerbsTransport.open(fabric.library(), new TransportConfig(channel, notices::add));
        far = LaneRings.openTransport(fabric, "rxe2");
    }

    @AfterEach
    void close() {
        if (arena != null) {
            near.close();
            far.close();
            arena.close();
        }
    }

    /// @param commands of ip(8), a line for each
    private static void ip(final String commands) {
        try {
            final Process process = new ProcessBuilder("ip", "-batch", "-")
                    .redirectErrorStream(true)
                    .start();
            try (var input = process.getOutputStream()) {
                input.write(commands.getBytes(StandardCharsets.UTF_8));
            }
            final String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(0, process.waitFor(), said);
        } catch (final IOException e) {
            throw new AssertionError(e);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    private boolean isTold(final Lane lane, final String what) {
        lane.completed();
        return notices.stream().anyMatch(notice -> notice.contains(what));
    }

    private int poll(final Lane lane) {
        completions.clear();
        return lane.poll(completions);
    }

    // A bridge may not carry at once what a cable that is just in again brings.
    private void awaitArrival(final Lane at, final Runnable send) {
        Wait.until("a datagram", () -> {
            send.run();
            return poll(at) > 0;
        });
    }

    private static void send(final Lane source) {
        source.completed();
        source.multicast(0, 1);
    }

    private static void awaitFailure(final Lane source) {
        Wait.until("the queue pair to fail", () -> {
            send(source);
            // It gives all back, and takes nothing.
            return source.completed() == source.submitted() && source.multicast(0, 1) == 0;
        });
    }

    private Lane receiver(final Lane source) {
        final Lane receiver = RINGS.receiver(far, arena, source);
        receiver.post(0, SLOTS);
        return receiver;
    }

    @Test
    void shouldSendAgainWhenItsCableIsBack() {
        final Lane source = RINGS.source(near, arena);
        final Lane receiver = receiver(source);
        ip("link set port1 down");
        try {
            Wait.until("the port to be down", () -> isTold(source, "went down"));
            awaitFailure(source);
        } finally {
            ip("link set port1 up");
        }
        awaitArrival(receiver, () -> send(source));
        assertTrue(source.counter(LaneCounter.SYSTEM_ERRORS) > 0, "began anew");
        Wait.until("the notice", () -> isTold(source, "is active"));
    }

    @Test
    void shouldEndWhenThePortComesBackWithASmallerMtu() {
        final Lane source = new LaneRings(SLOTS, 24, 2000).source(near, arena);
        ip("link set port1 down");
        try {
            Wait.until("the port to be down", () -> isTold(source, "went down"));
            ip("link set ve1 mtu 1500\nlink set port1 up");
            final TransportException ended = Wait.untilEnded(source::completed);
            assertTrue(
                    ended.getMessage()
                            .contains("device rxe1 port 1 has an MTU of 1024 now, and this stream's datagrams of"
                                    + " 2024 bytes would be lost"),
                    ended::getMessage);
        } finally {
            ip("link set ve1 mtu 9000\nlink set port1 up");
        }
    }

    @Test
    void shouldEndWhenTheMtuShrinksWhileThePortStaysUp() {
        final Lane source = new LaneRings(SLOTS, 24, 2000).source(near, arena);
        ip("link set ve1 mtu 1500");
        try {
            final TransportException ended = Wait.untilEnded(source::completed);
            assertTrue(ended.getMessage().contains("port 1 has an MTU of 1024 now"), ended::getMessage);
        } finally {
            ip("link set ve1 mtu 9000");
        }
    }

    @Test
    void shouldMakeNewWaysFromWhereItsAddressStandsNow() {
        final Lane kept = RINGS.source(near, arena);
        final Lane keptReceiver = receiver(kept);
        ip("address del 10.1.1.1/24 dev ve1");
        try {
            Wait.until("the address to be gone", () -> !isOpenable());
            final TransportException gone = assertThrows(TransportException.class, () -> RINGS.source(near, arena));
            assertEquals(
                    "verbs: device rxe1 port 1 has lost its address " + ADDRESS
                            + ", by which peers reach this end: give it back to its interface, or start this end anew",
                    gone.getMessage());
            awaitFailure(kept);
        } finally {
            ip(ADD_ADDRESS);
        }
        Wait.until("the address to be back", this::isOpenable);
        // It waits for its address, and leaves from where that stands now.
        awaitArrival(keptReceiver, () -> send(kept));
        final Lane later = RINGS.source(near, arena);
        awaitArrival(receiver(later), () -> send(later));
        final Lane control = RINGS.control(near, arena);
        final Lane peer = RINGS.control(far, arena);
        peer.post(0, SLOTS);
        final int friend = control.connect(peer.address());
        awaitArrival(peer, () -> {
            control.completed();
            control.unicast(friend, 0, 1);
        });
    }

    private boolean isOpenable() {
        try (Lane _ = RINGS.source(near, arena)) {
            return true;
        } catch (final TransportException _) {
            return false;
        }
    }
}
