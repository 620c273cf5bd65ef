package io.framecast.engine.subscribe;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.FifoNetwork;
import io.framecast.engine.aeron.AeronTransportProvider;
import io.framecast.engine.memory.HostProvider;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.node.TestNode;
import io.framecast.engine.testing.FifoProvider;
import io.framecast.engine.testing.FrameCheck;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.engine.udp.UdpTransportProvider;
import io.framecast.testing.FrameBytes;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Subscribers that serve others as co-roots, over real lanes on loopback, while datagrams are lost.
class CoRootStreamTest {
    private static final int SUBSCRIBERS = 6;
    private static final long WAIT_NS = 60_000_000_000L;
    private static final int FRAME_BYTES = 60_001;

    private final List<Member> members = new ArrayList<>();
    private final NodeConfig config = NodeConfig.DEFAULT.withSeed(11);

    /// One subscriber in a node of its own, with its counters.
    private static final class Member implements AutoCloseable {
        final Path counters = StreamFixture.countersFile();
        final Framecast node;
        final Subscriber subscriber;
        final FrameCheck check;
        boolean gone;

        Member(final NodeConfig config, final FifoProvider fifo, final Channel channel, final long[] lengths) {
            node = launch(config.withCountersFile(counters), fifo);
            subscriber = node.subscribe(channel);
            check = new FrameCheck(subscriber.device(), lengths);
        }

        void poll() {
            final DeviceFrame frame = gone ? null : subscriber.poll();
            if (frame != null) {
                check.onFrame(frame);
            }
        }

        void leave() {
            if (!gone) {
                gone = true;
                check.close();
                subscriber.close();
            }
        }

        boolean isDone() {
            return gone || check.frames() == check.expected();
        }

        @Override
        public void close() {
            leave();
            node.close();
        }
    }

    private static Framecast launch(final NodeConfig config, final FifoProvider fifo) {
        return TestNode.launch(
                config,
                List.of(new UdpTransportProvider(), new AeronTransportProvider(), fifo),
                List.of(new HostProvider()));
    }

    private static void await(final BooleanSupplier condition, final String what) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < WAIT_NS, () -> "waited in vain for " + what);
            LockSupport.parkNanos(20_000);
        }
    }

    private static long count(final Path counters, final String name) {
        try (CounterReader reader = CounterReader.open(counters)) {
            return reader.samples().stream()
                    .filter(sample -> sample.name().equals(name))
                    .mapToLong(sample -> sample.value())
                    .sum();
        }
    }

    private static long sum(final List<Member> members, final String name) {
        return members.stream()
                .filter(member -> !member.gone)
                .mapToLong(member -> count(member.counters, name))
                .sum();
    }

    private static MemorySegment frame(final Arena arena, final int id) {
        return FrameBytes.write(id, arena.allocate(FRAME_BYTES, 64));
    }

    private static void publish(final Publisher publisher, final List<Member> members, final int from, final int to) {
        try (Arena arena = Arena.ofConfined()) {
            for (int id = from; id < to; id++) {
                final MemorySegment frame = frame(arena, id);
                // Every third frame has metadata, which co-roots repair as well.
                final FrameOptions options =
                        id % 3 == 0 ? FrameOptions.DEFAULT.withMetadata(new byte[] {1, 2, 3}) : FrameOptions.DEFAULT;
                await(
                        () -> {
                            members.forEach(Member::poll);
                            return publisher.offer(frame, options) > 0;
                        },
                        "frame taken");
            }
        }
    }

    private void run(final String transport, final String settings, final @Nullable Runnable halfway) {
        final long[] lengths = new long[240];
        Arrays.fill(lengths, FRAME_BYTES);
        final Channel channel =
                StreamFixture.channel(transport, "|mtu=1500|frame-max=60001|co-roots=2|alive-timeout=20000" + settings);
        final NodeConfig lossy = config.withFaults(new NodeConfig.Faults(0.02));
        final Path counters = StreamFixture.countersFile();
        final FifoProvider fifo = new FifoProvider(FifoNetwork.lossless());
        try (Framecast source = launch(lossy.withCountersFile(counters), fifo)) {
            members.clear();
            for (int i = 0; i < SUBSCRIBERS; i++) {
                members.add(new Member(lossy.withSeed(100 + i), fifo, channel, lengths));
            }
            final Publisher publisher = source.publish(channel);
            await(() -> publisher.readySubscribers() == SUBSCRIBERS, "all subscribers");
            await(() -> sum(members, "framecast_served_members") == SUBSCRIBERS - 2, "sets");
            await(() -> count(counters, "framecast_co_roots") == 2, "co-roots");
            publish(publisher, members, 0, lengths.length / 2);
            if (halfway != null) {
                halfway.run();
            }
            publish(publisher, members, lengths.length / 2, lengths.length);
            await(
                    () -> {
                        members.forEach(Member::poll);
                        return members.stream().allMatch(Member::isDone);
                    },
                    "all frames");
            await(() -> count(counters, "framecast_window_used_bytes") == 0, "all acknowledged");
            await(() -> count(counters, "framecast_received_aggregates_total") > 0, "aggregates");
            await(() -> sum(members, "framecast_received_reports_total") > 0, "reports");
            await(() -> sum(members, "framecast_sent_set_repairs_total") > 0, "repairs");
            // A co-root that a busy machine silences is replaced as well; FailoverTest shows that others are not.
            await(() -> halfway == null || count(counters, "framecast_failovers_total") >= 1, "replaced");
            assertTrue(publisher.close(Duration.ofSeconds(30)), "drained");
        } finally {
            members.forEach(Member::close);
        }
    }

    @ParameterizedTest
    @CsvSource({"udp,host,multicast", "udp,host,unicast", "aeron,host,multicast", "verbs,host,multicast"})
    void shouldDeliverEverythingWhenCoRootsRepair(final String transport, final String device, final String feed) {
        run(transport, "|device=" + device + "|feed=" + feed, null);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "|payloads=unprotected"})
    void shouldRepairAmongMembersThatHaveTheKey(final String payloads, @TempDir final Path directory)
            throws IOException {
        final Path key = directory.resolve("key");
        Files.writeString(key, "one " + "5a".repeat(32) + "\n");
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        run("udp", "|device=host|auth=psk:" + key + payloads, null);
    }

    @Test
    void shouldReplaceACoRootThatLeaves() {
        run("udp", "|device=host", () -> {
            // A host that stands still may have its co-roots replaced right now.
            final List<Member> serving = new ArrayList<>();
            await(
                    () -> members.stream()
                            .filter(CoRootStreamTest::serves)
                            .findFirst()
                            .map(serving::add)
                            .isPresent(),
                    "one");
            serving.getFirst().leave();
        });
    }

    private static boolean serves(final Member member) {
        return count(member.counters, "framecast_served_members") > 0;
    }
}
