package io.framecast.engine.subscribe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.FifoNetwork;
import io.framecast.engine.aeron.AeronTransportProvider;
import io.framecast.engine.memory.HostProvider;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.CounterSample;
import io.framecast.engine.node.FramecastNode;
import io.framecast.engine.node.TestNode;
import io.framecast.engine.testing.DelayedDevice;
import io.framecast.engine.testing.FifoProvider;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.engine.udp.UdpTransportProvider;
import io.framecast.reliability.session.ReceiveSession;
import io.framecast.testing.FrameBytes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// A source, a neighbour that wants every frame, and a subscriber with a delivery policy, each in a node of its
/// own, over real lanes on loopback. The test's thread runs all nodes, and so decides which node runs and which
/// subscriber polls. Frames are small and large, at random.
final class DeliveryFixture implements AutoCloseable {
    static final int FRAME_MAX = 30_000;
    private static final String SETTINGS =
            "|mtu=1500|window=256k|frame-max=" + FRAME_MAX + "|frames-held=2|alive-timeout=50000|reorder=3";
    private static final long WAIT_NS = 60_000_000_000L;

    private final List<Framecast> running = new ArrayList<>();
    private final Arena arena = Arena.ofShared();
    private final FifoProvider fifo = new FifoProvider(FifoNetwork.lossless());
    private final SplittableRandom random = new SplittableRandom(3);
    private final Path counters = StreamFixture.countersFile();
    private final List<Integer> lengths = new ArrayList<>();
    private final MemorySegment content = arena.allocate(FRAME_MAX, 64);
    final DelayedDevice device = new DelayedDevice();
    final Framecast source;
    final FramecastNode beside;
    final FramecastNode slow;
    final Publisher publisher;
    final DeliveryCheck neighbour;
    final DeliveryCheck subject;
    private FrameOptions options = FrameOptions.DEFAULT;

    /// @param where `host`, or `emulated`: a device that the host cannot address and whose copies are late
    DeliveryFixture(final String transport, final String delivery, final String where, final double loss) {
        final NodeConfig config =
                NodeConfig.DEFAULT.withThreading(Threading.INVOKER).withSeed(5);
        source = add(launch(config));
        beside = add(launch(config));
        final NodeConfig lossy = config.withFaults(new NodeConfig.Faults(loss)).withCountersFile(counters);
        slow = add(launch(lossy));
        final Channel channel = StreamFixture.channel(transport, SETTINGS);
        publisher = source.publish(channel);
        neighbour = new DeliveryCheck(beside.subscribe(with(channel, "device=host")), lengths);
        subject =
                new DeliveryCheck(slow.subscribe(with(channel, "device=" + where + "|delivery=" + delivery)), lengths);
        until(() -> publisher.readySubscribers() == 2, "two members");
        until(() -> subject.isReady() && neighbour.isReady(), "two who know that they are");
    }

    private static Channel with(final Channel channel, final String settings) {
        return Channel.parse(channel + "|" + settings);
    }

    private FramecastNode launch(final NodeConfig config) {
        return TestNode.launch(
                config,
                List.of(new UdpTransportProvider(), new AeronTransportProvider(), fifo),
                List.of(new HostProvider(), device));
    }

    private FramecastNode add(final FramecastNode node) {
        running.add(node);
        return node;
    }

    /// Like SIGSTOP: from now on the node does nothing.
    void stop(final Framecast node) {
        running.remove(node);
    }

    /// Like SIGCONT.
    void resume(final Framecast node) {
        running.add(node);
    }

    /// Sets the options of the frames that are published from now on.
    void options(final FrameOptions value) {
        options = value;
    }

    int published() {
        return lengths.size();
    }

    /// Publishes the next frame, if the window has room. The neighbour polls its frames.
    void step() {
        final int id = lengths.size();
        step(random.nextInt(4) > 0 ? 1 + (int) (id * 37L % 200) : 1 + (int) (id * 911L % FRAME_MAX));
    }

    /// The same, with a frame of that length.
    void step(final int length) {
        offer(length);
        cycle();
    }

    /// The same, while no node runs.
    void offer(final int length) {
        final int id = lengths.size();
        FrameBytes.write(id, content.asSlice(0, length));
        // Known before it can be received.
        lengths.add(length);
        if (publisher.offer(content.asSlice(0, length), options) < 0) {
            lengths.remove(id);
        }
    }

    void cycle() {
        int work = 0;
        for (final Framecast node : running) {
            work += node.doWork();
        }
        neighbour.poll();
        if (work == 0) {
            LockSupport.parkNanos(20_000);
        }
    }

    /// Publishes until this number of further frames were published and reached the neighbour.
    ///
    /// @param each runs after every step
    void publish(final int frames, final Runnable each) {
        final int wanted = published() + frames;
        untilDone(
                () -> {
                    if (published() < wanted) {
                        step();
                    } else {
                        cycle();
                    }
                    each.run();
                    return neighbour.passed() >= wanted;
                },
                "neighbour has " + wanted + " frames");
    }

    /// Publishes this number of further frames, each when the subject is done with the one before. So a subject
    /// that the source does not wait for, and that runs late, loses none of them.
    void publishOneByOne(final int frames) {
        for (int i = 0; i < frames; i++) {
            publish(1, subject::poll);
            until(() -> subject.pollPast(published()), "subject is done with frame " + published());
        }
    }

    /// Goes on publishing until the condition holds.
    void publishUntil(final BooleanSupplier condition, final String what) {
        untilDone(
                () -> {
                    step();
                    return condition.getAsBoolean();
                },
                what);
    }

    void until(final BooleanSupplier condition, final String what) {
        untilDone(
                () -> {
                    cycle();
                    return condition.getAsBoolean();
                },
                what);
    }

    private void untilDone(final BooleanSupplier step, final String what) {
        final long startNs = System.nanoTime();
        while (!step.getAsBoolean()) {
            final boolean failed = subject.state() == Subscriber.State.FAILED;
            if (failed || System.nanoTime() - startNs > WAIT_NS) {
                throw new AssertionError("waited in vain for: " + what + "; published " + published() + ", neighbour "
                        + neighbour + ", subject " + subject + ", " + publisher.stats());
            }
        }
    }

    /// Ends the stream; every connected subscriber gets to its end.
    void end() throws Exception {
        running.remove(source);
        final FutureTask<Boolean> closing = new FutureTask<>(() -> publisher.close(Duration.ofSeconds(60)));
        Thread.ofPlatform().daemon().start(closing);
        untilDone(
                () -> {
                    cycle();
                    subject.poll();
                    return closing.isDone();
                },
                "end of stream");
        assertTrue(closing.get(), () -> "drained: " + subject);
        running.add(source);
    }

    /// Slots of a subscriber that are not free though nothing is held.
    static long heldSlots(final FramecastNode node) {
        final ReceiveSession session =
                TestNode.receiver(node).members().getFirst().session().protocol();
        return session.assembly().heldSlots(session.machine().nextFrameSequence());
    }

    /// Every subscriber has reached the end, the neighbour with all frames, and all memory is back.
    void requireWholeAccount() {
        until(
                () -> {
                    subject.poll();
                    return subject.state() == Subscriber.State.END_OF_STREAM
                            && neighbour.state() == Subscriber.State.END_OF_STREAM;
                },
                "both at the end");
        assertEquals(published(), neighbour.given());
        assertEquals(0, neighbour.lost());
        subject.requireEachFrameOnce(published());
        until(() -> heldSlots(slow) == 0 && heldSlots(beside) == 0, "slots back");
    }

    /// A counter from the slow node's counters file.
    long counter(final String name, final String labels) {
        try (CounterReader reader = CounterReader.open(counters)) {
            return reader.samples().stream()
                    .filter(sample ->
                            sample.name().equals(name) && sample.labels().contains(labels))
                    .mapToLong(CounterSample::value)
                    .sum();
        }
    }

    @Override
    public void close() {
        neighbour.close();
        subject.close();
        source.close();
        beside.close();
        slow.close();
        arena.close();
        assertEquals(0, device.allocatedBytes());
        assertEquals(0, device.pinnedBytes());
    }
}
