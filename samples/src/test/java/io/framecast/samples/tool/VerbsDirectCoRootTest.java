package io.framecast.samples.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.CounterSample;
import io.framecast.gpu.emulated.EmulatedConfig;
import io.framecast.gpu.emulated.EmulatedProvider;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Sixteen subscribers whose payloads a NIC writes into device memory, over a libibverbs without devices:
/// those that are co-roots serve from a replica that the source writes.
@Tag("campaign")
final class VerbsDirectCoRootTest {
    private static final int SUBSCRIBERS = 16;
    private static final int FRAME_MAX = 20_000;
    private static final int FRAMES = 400;
    private static final String SERVED = "framecast_served_members";
    private static final long WAIT_NS = 180_000_000_000L;

    @TempDir
    private static Path directory;

    private static StandInVerbs standIn;

    private final Arena arena = Arena.ofShared();
    private final List<Framecast> nodes = new ArrayList<>();
    private final List<Subscriber> subscribers = new ArrayList<>();
    private final List<DeviceStream> streams = new ArrayList<>();
    private final List<Path> counters = new ArrayList<>();
    private final List<String> notices = new CopyOnWriteArrayList<>();
    private final MemorySegment read = arena.allocate(FRAME_MAX);
    private final int[] polled = new int[SUBSCRIBERS];
    private boolean gathers;
    private final boolean[] gone = new boolean[SUBSCRIBERS];

    @BeforeAll
    static void compile() {
        standIn = StandInVerbs.install();
    }

    @AfterAll
    static void forget() {
        StandInVerbs.uninstall();
    }

    @BeforeEach
    void export() {
        EmulatedProvider.configure(EmulatedConfig.DEFAULT.withMemory(256L << 20).withExports());
        standIn.set("takes_dma_buf", 1);
    }

    @AfterEach
    void close() {
        nodes.forEach(Framecast::close);
        EmulatedProvider.configure(EmulatedConfig.DEFAULT);
        standIn.set("takes_dma_buf", 0);
        arena.close();
    }

    private Framecast node(final double loss) {
        final Path file = directory.resolve(nodes.size() + "-" + System.nanoTime() + ".counters");
        counters.add(file);
        final Framecast node = Framecast.launch(NodeConfig.DEFAULT
                .withCountersFile(file)
                .withSeed(3 + nodes.size())
                .withFaults(new NodeConfig.Faults(loss))
                .withNotices(notices::add));
        nodes.add(node);
        return node;
    }

    private static Channel channel(final int nic, final String keys) {
        return Channel.parse("framecast:verbs?group=239.77.5.9:4200|window=256k|frame-max=" + FRAME_MAX
                + "|interface=standin" + nic + keys);
    }

    private void await(final BooleanSupplier condition, final String what) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - startNs > WAIT_NS) {
                throw new AssertionError("waited in vain for " + what + ": "
                        + subscribers.stream()
                                .map(each -> each.state() + " " + each.failure() + " " + each.stats())
                                .toList()
                        + notices);
            }
            LockSupport.parkNanos(20_000);
        }
    }

    private static int length(final int id) {
        return 1 + (int) (id * 48_611L % FRAME_MAX);
    }

    private static byte value(final int id, final long index) {
        return (byte) (index * 31 + (index >>> 11) + id * 131L);
    }

    private MemorySegment frame(final int id) {
        final MemorySegment frame = arena.allocate(length(id));
        for (long i = 0; i < frame.byteSize(); i++) {
            frame.set(ValueLayout.JAVA_BYTE, i, value(id, i));
        }
        return frame;
    }

    private void check(final int subscriber, final DeviceFrame frame) {
        final int id = polled[subscriber]++;
        assertEquals(id, frame.frameId());
        assertEquals(length(id), frame.length());
        final DeviceStream stream = streams.get(subscriber);
        stream.await(frame.ready());
        stream.copyToHost(read, 0, frame.region().address(), frame.length());
        stream.synchronize();
        for (long i = 0; i < frame.length(); i++) {
            if (read.get(ValueLayout.JAVA_BYTE, i) != value(id, i)) {
                throw new AssertionError("subscriber " + subscriber + ": frame " + id + " differs at byte " + i);
            }
        }
        frame.close();
    }

    private boolean pollAll(final int frames) {
        boolean done = true;
        for (int s = 0; s < SUBSCRIBERS; s++) {
            final int subscriber = s;
            if (!gone[s]) {
                subscribers.get(s).poll(frame -> check(subscriber, frame), 10);
                done &= polled[s] == frames;
            }
        }
        return done;
    }

    private void publish(final Publisher publisher, final int from, final int end) {
        for (int id = from; id < end; id++) {
            final MemorySegment frame = frame(id);
            if (gathers) {
                publishFromDevice(publisher, frame, end);
                continue;
            }
            await(
                    () -> {
                        pollAll(end);
                        return publisher.offer(frame, FrameOptions.DEFAULT) > 0;
                    },
                    "room for a frame");
        }
        await(() -> pollAll(end), "all frames");
    }

    // The short ones are sent from there, and the replicas of co-roots lack them; others are copied.
    private void publishFromDevice(final Publisher publisher, final MemorySegment frame, final int end) {
        final DeviceRegion[] claimed = new DeviceRegion[1];
        await(
                () -> {
                    pollAll(end);
                    claimed[0] = publisher.tryClaimDevice(frame.byteSize());
                    return claimed[0] != null;
                },
                "a claim");
        try (DeviceStream stream = publisher.device().openStream();
                DeviceEvent written = publisher.device().openEvent()) {
            stream.copyToDevice(claimed[0].address(), frame, 0, frame.byteSize());
            stream.record(written);
            await(
                    () -> {
                        pollAll(end);
                        return publisher.offer(claimed[0], written, FrameOptions.DEFAULT) > 0;
                    },
                    "room for a frame");
        }
    }

    // Nodes 0 … 15 are the subscribers'.
    private long count(final int node, final String name) {
        try (CounterReader reader = CounterReader.open(counters.get(node))) {
            return reader.samples().stream()
                    .filter(sample -> sample.name().equals(name))
                    .mapToLong(CounterSample::value)
                    .sum();
        }
    }

    private long sum(final String name) {
        long sum = 0;
        for (int s = 0; s < SUBSCRIBERS; s++) {
            sum += gone[s] ? 0 : count(s, name);
        }
        return sum;
    }

    private int coRoot() {
        for (int s = 0; s < SUBSCRIBERS; s++) {
            if (!gone[s] && count(s, SERVED) > 0) {
                return s;
            }
        }
        throw new AssertionError("no subscriber serves others");
    }

    @ParameterizedTest
    @CsvSource({"2, host", "4, host", "4, emulated:0|gather-max=8000"})
    void shouldServeOthersFromAReplicaThatTheSourceWrites(final int coRoots, final String source) {
        final double loss = 0.02;
        for (int s = 0; s < SUBSCRIBERS; s++) {
            subscribers.add(node(loss).subscribe(channel(s % 2, "|device=emulated:" + s + "|placement=direct")));
            streams.add(subscribers.get(s).device().openStream());
        }
        final Publisher publisher = node(0).publish(channel(2, "|device=" + source + "|co-roots=" + coRoots));
        await(() -> publisher.readySubscribers() == SUBSCRIBERS, "subscribers");
        gathers = !source.equals("host");
        await(() -> sum(SERVED) == SUBSCRIBERS - coRoots, "sets");
        publish(publisher, 0, FRAMES);
        assertTrue(sum("framecast_feed_taken_datagrams_total") > 0, "datagrams that the source wrote");
        assertTrue(
                sum("framecast_set_pulled_datagrams_total") + sum("framecast_sent_set_repairs_total") > 0,
                "repairs by co-roots");
        final int killed = coRoot();
        gone[killed] = true;
        streams.get(killed).close();
        nodes.get(killed).close();
        publish(publisher, FRAMES, 2 * FRAMES);
        await(() -> sum(SERVED) > 0, "sets");
        assertTrue(publisher.close(Duration.ofSeconds(60)));
    }
}
