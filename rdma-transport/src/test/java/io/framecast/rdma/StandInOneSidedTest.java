package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.OneSided.Access;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.OneSidedEndpoint.Range;
import io.framecast.api.spi.OneSidedEndpoint.State;
import io.framecast.api.spi.RegisteredMemory;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.Fabric;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/// [OneSidedContract] on the stand-in, and what only it lets happen.
final class StandInOneSidedTest extends OneSidedContract {
    private static final int ROUNDS = 20_000;
    private static final int TRIES_MAX = 5;
    private static final int CLOSINGS = 100;

    @Override
    Fabric fabric() {
        return Fabric.standIn();
    }

    @Test
    void shouldSayWhyWhenItCannotConnect() {
        final OneSidedEndpoint actor = acting.open(4);
        fabric.fail("ibv_modify_qp", 110);
        final OneSidedEndpoint server = serving.accept(actor.descriptor());
        Wait.until("the refusal", () -> server.state() == State.BROKEN);
        assertTrue(server.failure().contains("ibv_modify_qp"), server.failure());
        assertEquals(0, server.descriptor().length);
    }

    @Test
    void shouldConnectFromWhereItsAddressStandsNow() {
        fabric.set("ipv4_index", 2);
        try {
            connect();
        } finally {
            fabric.set("ipv4_index", 1);
        }
    }

    @Test
    void shouldReleaseWhatItMadeWhenTheDeviceRefusesTheRest() {
        final int before = fabric.library().liveHandles();
        fabric.fail("ibv_create_qp", 12);
        final TransportException e = assertThrows(TransportException.class, () -> acting.open(4));
        assertTrue(String.valueOf(e.getMessage()).contains("ibv_create_qp"), e.getMessage());
        assertEquals(before, fabric.library().liveHandles());
    }

    @Test
    void shouldBreakWhenItsQueuePairFailsByItself() {
        final OneSidedEndpoint actor = connect().actor();
        final RcDescriptor own = RcDescriptor.decode(actor.descriptor(), ((VerbsOneSided) acting).ownEnd());
        try (RegisteredMemory words = serving.register(remote, Access.PEERS_WRITE)) {
            fabric.set("break_qp", own.queuePair());
            actor.write64(words.address(), words.key(), 5, 1);
            awaitBroken(actor);
            assertTrue(actor.failure().startsWith("given back"), actor.failure());
        }
    }

    /// Another thread makes and registers while the transport is closed by its owner.
    @Test
    void shouldLeaveNothingWhenItsTransportClosesMeanwhile() throws InterruptedException {
        final int before = fabric.library().liveHandles();
        for (int round = 0; round < CLOSINGS; round++) {
            final Transport closing = LaneRings.openTransport(fabric, fabric.device(2));
            final OneSided sides = Objects.requireNonNull(closing.oneSided());
            final CountDownLatch began = new CountDownLatch(1);
            final List<Throwable> ends = new CopyOnWriteArrayList<>();
            final Thread maker = Thread.ofPlatform().start(() -> {
                try {
                    while (true) {
                        began.countDown();
                        sides.open(4);
                        sides.register(local, Access.PEERS_READ).close();
                    }
                } catch (final Throwable e) {
                    ends.add(e);
                }
            });
            began.await();
            closing.close();
            maker.join();
            assertInstanceOf(TransportException.class, ends.getFirst());
            assertTrue(String.valueOf(ends.getFirst().getMessage()).contains("is closed"), ends.toString());
        }
        Wait.until("all to close", () -> fabric.library().liveHandles() == before);
    }

    /// With a number of the driver's own, which is no errno.
    @Test
    void shouldBreakAloneWhenItsCompletionsCannotBePolled() {
        final OneSidedEndpoint actor = connect().actor();
        final OneSidedEndpoint other = connect().actor();
        final RcDescriptor own = RcDescriptor.decode(actor.descriptor(), ((VerbsOneSided) acting).ownEnd());
        try (RegisteredMemory words = serving.register(remote, Access.PEERS_WRITE)) {
            actor.write64(words.address(), words.key(), 5, 1);
            fabric.set("break_polls", own.queuePair());
            awaitBroken(actor);
            assertTrue(actor.failure().startsWith("verbs: ibv_poll_cq: completion queue of"), actor.failure());
            assertTrue(actor.failure().contains("failed (-12)"), actor.failure());
            actor.close();
            assertTrue(other.write64(words.address() + 8, words.key(), 6, 2));
            Wait.until("the other's token", () -> other.poll(tokens) == 1);
            assertEquals(2, tokens[0]);
            assertEquals(State.UP, other.state());
        }
    }

    /// The kernel looks for the peer's neighbour meanwhile.
    @Test
    void shouldNeverBecomeReadyToReceiveWhenClosedWhileConnecting() {
        final int handlesBefore = fabric.library().liveHandles();
        final OneSidedEndpoint actor = acting.open(4);
        fabric.set("connect_hangs", 1);
        final long before = fabric.count("connected");
        try {
            final OneSidedEndpoint server = serving.accept(actor.descriptor());
            Wait.until("the worker to be there", () -> fabric.count("connecting") == 1);
            server.close();
            assertEquals(State.BROKEN, server.state());
            assertEquals("closed", server.failure());
        } finally {
            fabric.set("connect_hangs", 0);
        }
        actor.close();
        Wait.until("the worker to release it", () -> fabric.library().liveHandles() == handlesBefore);
        assertEquals(before, fabric.count("connected"));
    }

    /// An end that only accepts posts nothing, so no completion reports the failure.
    @Test
    void shouldKnowOnTheAcceptingSideThatItsQueuePairFailed() {
        final Pair other = connect();
        final Pair pair = connect();
        try (Lane lane = new LaneRings(8, 24, 64).control(far, arena);
                RegisteredMemory words = serving.register(remote, Access.PEERS_WRITE)) {
            pair.actor().write64(words.address(), words.key() + 256, 5, 1);
            awaitBroken(pair.actor());
            Wait.until("the accepting end to know", () -> {
                lane.armReady();
                return pair.server().state() == State.BROKEN;
            });
            assertTrue(
                    pair.server().failure().startsWith("its queue pair failed (QP_ACCESS_ERROR"),
                    pair.server().failure());
            assertEquals(State.UP, other.server().state());
        }
    }

    @Test
    void shouldAllocateNothingPerOperation() {
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        final OneSidedEndpoint actor = connect().actor();
        try (RegisteredMemory words = serving.register(remote, Access.PEERS_WRITE);
                RegisteredMemory window = serving.register(remote, Access.PEERS_READ);
                RegisteredMemory destination = acting.register(local, Access.LOCAL)) {
            final Range target = new Range(destination);
            rounds(actor, words, window, target);
            threads.getCurrentThreadAllocatedBytes();
            long least = Long.MAX_VALUE;
            // The compiler may still change its mind about code it has just made, which costs some.
            for (int tries = 0; least > 0 && tries < TRIES_MAX; tries++) {
                final long before = threads.getCurrentThreadAllocatedBytes();
                rounds(actor, words, window, target);
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertEquals(0, least);
        }
    }

    private void rounds(
            final OneSidedEndpoint actor,
            final RegisteredMemory words,
            final RegisteredMemory window,
            final Range target) {
        for (int i = 0; i < ROUNDS; i++) {
            actor.write64(words.address(), words.key(), i, 1);
            actor.read(target.at(64, 1024), window.address(), window.key(), OneSidedEndpoint.NO_TOKEN);
            actor.read(target.at(2048, 40), window.address() + 4096, window.key(), 2);
            int count = 0;
            while (count < 2) {
                count += actor.poll(tokens);
            }
        }
    }
}
