package io.framecast.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.engine.memory.HostProvider;
import io.framecast.engine.memory.NumaPolicy;
import io.framecast.engine.metrics.CounterTable;
import io.framecast.engine.node.FramecastNode;
import io.framecast.engine.node.TestNode;
import io.framecast.engine.subscribe.EngineSubscriber;
import io.framecast.engine.subscribe.GroupRole;
import io.framecast.engine.subscribe.ReceiverAgent;
import io.framecast.engine.subscribe.Subscription;
import io.framecast.engine.testing.ScriptedTransport;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.engine.udp.UdpTransportProvider;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Lanes that break and do not open: the session ends with one line, its neighbours go on, nothing leaks. All
/// agents run on the test's thread.
class SessionFailureTest {
    private static final int CYCLES_MAX = 20_000_000;

    private final ScriptedTransport faulty = new ScriptedTransport(new UdpTransportProvider());
    private final ScriptedTransport sound = new ScriptedTransport(new UdpTransportProvider());
    private final List<String> notices = new CopyOnWriteArrayList<>();
    private Framecast broken;
    private Framecast healthy;

    @BeforeEach
    void launch() {
        broken = node(faulty);
        healthy = node(sound);
    }

    @AfterEach
    void close() {
        broken.close();
        healthy.close();
        assertEquals(List.of(), faulty.leaks());
        assertEquals(List.of(), sound.leaks());
    }

    private Framecast node(final ScriptedTransport transport) {
        final NodeConfig config =
                NodeConfig.DEFAULT.withThreading(Threading.INVOKER).withSeed(3).withNotices(notices::add);
        return TestNode.launch(config, transport);
    }

    private void until(final BooleanSupplier condition, final String what) {
        for (int i = 0; i < CYCLES_MAX; i++) {
            if (condition.getAsBoolean()) {
                return;
            }
            broken.doWork();
            healthy.doWork();
        }
        throw new AssertionError("waited in vain for: " + what + " " + notices);
    }

    private static Channel channel(final String settings) {
        return StreamFixture.channel("udp", "|mtu=1500|frame-max=100000|device=host" + settings);
    }

    @Test
    void shouldFailPublisherOnceWhenItsLaneBreaks() {
        final Publisher publisher = broken.publish(channel(""));
        broken.doWork();
        faulty.lanesFail = true;
        until(() -> publisher.failure().isPresent(), "failure");
        final String line = publisher.failure().orElseThrow();
        assertTrue(line.contains("injected") && !line.contains("\n"), line);
        for (int i = 0; i < 1_000; i++) {
            broken.doWork();
        }
        assertEquals(
                1,
                notices.stream().filter(notice -> notice.contains("injected")).count(),
                () -> "" + notices);
        try (Arena arena = Arena.ofConfined()) {
            assertEquals(Publisher.CLOSED, publisher.offer(arena.allocate(10), FrameOptions.DEFAULT));
        }
        publisher.close();
        assertEquals(List.of(), faulty.leaks());
    }

    @Test
    void shouldFailSubscriberAndKeepItsFrameWhenItsLaneBreaks() {
        final Channel channel = channel("");
        final Subscriber victim = broken.subscribe(channel);
        final Subscriber neighbour = healthy.subscribe(channel);
        final Publisher publisher = healthy.publish(channel);
        until(() -> publisher.readySubscribers() == 2, "both ready");
        final DeviceFrame[] held = new DeviceFrame[1];
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment frame = arena.allocate(60_000).fill((byte) 7);
            assertTrue(publisher.offer(frame, FrameOptions.DEFAULT) > 0);
            until(() -> (held[0] = victim.poll()) != null, "frame");
            faulty.lanesFail = true;
            until(() -> victim.state() == Subscriber.State.FAILED, "failure");
            faulty.lanesFail = false;
            assertTrue(victim.failure().orElseThrow().contains("injected"), () -> "" + victim.failure());
            for (int i = 0; i < 1_000; i++) {
                broken.doWork();
            }
            // Device and frame stay valid until the user closes the subscriber.
            victim.device().openStream().close();
            assertEquals(-1, held[0].region().host().mismatch(frame));
            held[0].close();
            until(() -> close(neighbour.poll()), "the neighbour's frame");
            // The source waits for the victim until it is evicted, then goes on.
            until(() -> publisher.offer(frame, FrameOptions.DEFAULT) > 0, "next frame taken");
            until(() -> close(neighbour.poll()), "the neighbour's next frame");
        }
        final DeviceBackend device = victim.device();
        victim.close();
        broken.close();
        assertThrows(RuntimeException.class, device::openStream, "the device is closed");
        assertEquals(List.of(), faulty.leaks());
    }

    private static boolean close(final DeviceFrame frame) {
        if (frame != null) {
            frame.close();
        }
        return frame != null;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void shouldLeakNothingWhenSourceCannotOpenItsLanes(final int opens) {
        faulty.opensUntilFailure.set(opens);
        final Channel channel = channel("");
        assertThrows(IllegalStateException.class, () -> broken.publish(channel));
        assertEquals(opens, faulty.opened());
        assertEquals(List.of(), faulty.leaks());
    }

    @Test
    void shouldLeakNothingWhenSubscriberCannotOpenItsControlLane() {
        faulty.opensUntilFailure.set(0);
        final Channel channel = channel("");
        assertThrows(IllegalStateException.class, () -> broken.subscribe(channel));
        assertEquals(List.of(), faulty.leaks());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldFailSubscriberWhenItsSessionCannotOpen(final int opens) {
        final Channel channel = channel("");
        final Publisher publisher = healthy.publish(channel);
        final Subscriber subscriber = broken.subscribe(channel);
        faulty.opensUntilFailure.set(opens);
        until(() -> subscriber.state() == Subscriber.State.FAILED, "failure");
        assertTrue(subscriber.failure().orElseThrow().contains("injected"), () -> "" + subscriber.failure());
        assertEquals(0, publisher.readySubscribers());
        subscriber.close();
        assertEquals(List.of(), faulty.leaks());
    }

    @Test
    void shouldFreeSessionWhenSubscriberClosesWhileItIsOpened() {
        final Channel channel = channel("");
        healthy.publish(channel);
        final SessionAgent<SessionAgent.Member> conductor =
                new SessionAgent<>("conductor", System::nanoTime, notices::add);
        final ReceiverAgent receiver = new ReceiverAgent(System::nanoTime, conductor, notices::add);
        final DeviceBackend device = new HostProvider().open(0);
        final EngineSubscriber subscriber = new EngineSubscriber(channel, device, (FramecastNode) broken, _ -> {});
        final boolean[] asked = new boolean[1];
        conductor.wakeBy(() -> asked[0] = true, _ -> {});
        try (CounterTable counters = CounterTable.create()) {
            final SessionContext context =
                    new SessionContext(1, 0, notices::add, System::nanoTime, 0, counters, NumaPolicy.ANY_NODE);
            receiver.add(new Subscription(
                    subscriber,
                    GroupRole.alone(),
                    faulty.open(new TransportConfig(channel, notices::add)),
                    context,
                    receiver));
            until(() -> receiver.doWork() >= 0 && asked[0], "source heard");
            // Close falls between the receiver's request and the conductor's answer.
            receiver.remove(subscriber);
            receiver.doWork();
            conductor.doWork();
            assertEquals(3, faulty.opened());
            receiver.doWork();
            conductor.doWork();
            assertEquals(List.of(), faulty.leaks());
            assertThrows(RuntimeException.class, device::openStream, "the device is closed");
        }
    }

    @Test
    void shouldLeakNothingWhenTheNodeClosesWhileItsPublisherLingers() throws InterruptedException {
        final ScriptedTransport lingering = new ScriptedTransport(new UdpTransportProvider());
        final Channel channel = channel("|frames-held=1");
        final Framecast running = TestNode.launch(NodeConfig.DEFAULT.withNotices(notices::add), lingering);
        try (Arena arena = Arena.ofShared()) {
            healthy.subscribe(channel);
            final Publisher publisher = running.publish(channel);
            until(() -> publisher.readySubscribers() == 1, "ready");
            final MemorySegment frame = arena.allocate(50_000);
            assertTrue(publisher.offer(frame, FrameOptions.DEFAULT) > 0);
            // Its subscriber does nothing from now on, so the linger lasts.
            final boolean[] all = {true};
            final Thread closer = Thread.ofPlatform().start(() -> all[0] = publisher.close(Duration.ofSeconds(1)));
            while (publisher.offer(frame, FrameOptions.DEFAULT) != Publisher.CLOSED) {
                Thread.onSpinWait();
            }
            running.close();
            assertEquals(List.of(), lingering.leaks());
            closer.join();
            assertFalse(all[0]);
            assertFalse(publisher.close(Duration.ofDays(100_000)), "the same answer once more");
        } finally {
            running.close();
        }
    }

    @Test
    void shouldRefuseWorkWhenNodeIsClosed() {
        broken.close();
        final Channel channel = channel("");
        assertThrows(IllegalStateException.class, () -> broken.publish(channel));
        assertThrows(IllegalStateException.class, () -> broken.subscribe(channel));
        assertEquals(List.of(), faulty.leaks());
    }
}
