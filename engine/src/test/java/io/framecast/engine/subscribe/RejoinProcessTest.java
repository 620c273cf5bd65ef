package io.framecast.engine.subscribe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.api.Channel;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.error.ConfigException;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.CounterSample;
import io.framecast.engine.testing.SourceLog.Feeder;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.testing.TestJvm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Membership among real processes that are stopped and killed.
@Tag("campaign")
@Execution(ExecutionMode.CONCURRENT)
class RejoinProcessTest {
    private static final String SETTINGS = "|mtu=1500|frame-max=60000|window=200k|alive-timeout=4000|device=host";
    private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long PATIENCE_MS = 6_000;
    // On a machine that delivers a signal late, the test repeats with longer timeouts up to this.
    private static final long PATIENCE_MAX_MS = 4 * PATIENCE_MS;

    @TempDir
    Path directory;

    private final List<Process> children = new ArrayList<>();

    @AfterEach
    void kill() throws InterruptedException {
        for (final Process child : children) {
            child.destroyForcibly().waitFor();
        }
    }

    private Process start(final String log, final String... arguments) throws IOException {
        final Process child = new ProcessBuilder(TestJvm.command(RejoinChild.class, arguments))
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve(log).toFile())
                .start();
        children.add(child);
        return child;
    }

    private List<String> lines(final String log) {
        try {
            return Files.readString(directory.resolve(log), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        } catch (final IOException e) {
            return List.of(e.toString());
        }
    }

    private int frames(final String log) {
        return lines(log).stream()
                .filter(line -> line.startsWith("frames "))
                .mapToInt(line -> Integer.parseInt(line.substring(7)))
                .max()
                .orElse(0);
    }

    private void until(final BooleanSupplier condition, final String what) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < WAIT_NS, () -> "in vain for " + what + ": " + lines("subscriber"));
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static void signal(final String name, final Process child) throws Exception {
        assumeTrue(
                new ProcessBuilder("kill", "-" + name, Long.toString(child.pid()))
                                .start()
                                .waitFor()
                        == 0,
                "no kill -" + name + " here");
    }

    @ParameterizedTest
    @ValueSource(strings = {"udp", "aeron"})
    void shouldJoinAgainWhenItsProcessWasStoppedForTooLong(final String transport) throws Exception {
        final Channel channel = StreamFixture.channel(transport, SETTINGS);
        try (Framecast node = Framecast.launch(NodeConfig.DEFAULT)) {
            final Feeder feeder = new Feeder(node, node.publish(channel), 0);
            final Process subscriber = start("subscriber", "subscribe", channel + "|rejoin=30s");
            final Runnable publish = () -> {
                if (!feeder.offer()) {
                    feeder.publisher.awaitRoom(1, Duration.ofMillis(1));
                }
            };
            until(
                    () -> {
                        publish.run();
                        return frames("subscriber") > 0;
                    },
                    "first frames");
            signal("STOP", subscriber);
            until(
                    () -> {
                        publish.run();
                        return feeder.publisher.stats().evictedSubscribers() == 1;
                    },
                    "eviction");
            signal("CONT", subscriber);
            until(() -> feeder.publisher.readySubscribers() == 1, "member again");
            final int back = feeder.frames();
            until(
                    () -> {
                        publish.run();
                        return feeder.frames() >= back + 200;
                    },
                    "more frames");
            assertTrue(feeder.publisher.close(Duration.ofSeconds(30)), "all was acknowledged");
            assertTrue(subscriber.waitFor(30, TimeUnit.SECONDS));
            assertEquals(1, feeder.publisher.stats().evictedSubscribers());
            final List<String> printed = lines("subscriber");
            assertEquals("END_OF_STREAM 1 ", printed.getLast(), () -> "" + printed);
            // From the rejoin to the last frame; the subscriber checks that none is missing between.
            final long first = Long.parseLong(printed.stream()
                    .filter(line -> line.startsWith("REJOINED "))
                    .findFirst()
                    .orElseThrow()
                    .substring(9));
            assertTrue(first <= back, () -> "joined again at " + first + " of " + back + ", " + printed);
            assertTrue(
                    printed.stream().anyMatch(line -> line.contains(" next " + feeder.frames() + " ")),
                    () -> "" + printed);
        }
    }

    // Stops a process for four fifths of its source's alive timeout, and publishes on.
    //
    // Returns whether the stop lasted no longer than nine tenths of that timeout.
    private static boolean pause(final Process child, final long patienceMs, final Until until) throws Exception {
        final long patienceNs = TimeUnit.MILLISECONDS.toNanos(patienceMs);
        signal("STOP", child);
        final long startNs = System.nanoTime();
        until.holds(() -> System.nanoTime() - startNs >= patienceNs / 5 * 4, "end of pause");
        signal("CONT", child);
        return System.nanoTime() - startNs < patienceNs / 10 * 9;
    }

    // Publishes until a condition holds.
    private interface Until {
        void holds(BooleanSupplier condition, String what);
    }

    @ParameterizedTest
    @CsvSource({"udp, member", "udp, co-root", "aeron, co-root"})
    void shouldEvictNobodyWhenAProcessStandsStillForLessThanItsSourceIsPatient(
            final String transport, final String stopped) throws Exception {
        long patienceMs = PATIENCE_MS;
        while (!isNobodyEvicted(transport, stopped, patienceMs)) {
            patienceMs *= 2;
            kill();
            // A machine that slow proves nothing about the source.
            assumeTrue(patienceMs <= PATIENCE_MAX_MS, "no signal was delivered in time, however long the pause");
        }
    }

    // False where the process was stopped for longer than planned, which proves nothing about the source.
    private boolean isNobodyEvicted(final String transport, final String stopped, final long patienceMs)
            throws Exception {
        final Channel channel = StreamFixture.channel(
                transport, "|mtu=1500|frame-max=60000|window=200k|co-roots=1|device=host|alive-timeout=" + patienceMs);
        final Path sourceCounters = directory.resolve("source.counters");
        final Path coRootCounters = directory.resolve("co-root.counters");
        try (Framecast node = Framecast.launch(NodeConfig.DEFAULT.withCountersFile(sourceCounters))) {
            final Feeder feeder = new Feeder(node, node.publish(channel), 0);
            final Process coRoot = start("subscriber", "subscribe", channel.toString(), coRootCounters.toString());
            final Process member = start("member", "subscribe", channel + "|serve=no");
            final Process other = start("other", "subscribe", channel + "|serve=no");
            until(() -> feeder.publisher.readySubscribers() == 3, "three members");
            until(() -> count(coRootCounters, "framecast_served_members") == 2, "a co-root that serves the others");
            final Runnable publish = () -> {
                if (!feeder.offer()) {
                    feeder.publisher.awaitRoom(1, Duration.ofMillis(1));
                }
            };
            final Until publishing = (condition, what) -> until(
                    () -> {
                        publish.run();
                        return condition.getAsBoolean();
                    },
                    what);
            for (int i = 0; i < 2; i++) {
                final int before = feeder.frames();
                publishing.holds(() -> feeder.frames() >= before + 100, "frames");
                if (!pause(stopped.equals("member") ? member : coRoot, patienceMs, publishing)) {
                    return false;
                }
            }
            final int before = feeder.frames();
            publishing.holds(() -> feeder.frames() >= before + 100, "frames after the last pause");
            assertEquals(3, feeder.publisher.readySubscribers());
            assertTrue(feeder.publisher.close(Duration.ofSeconds(30)), "all was acknowledged");
            assertEquals(0, feeder.publisher.stats().evictedSubscribers());
            for (final Process child : List.of(coRoot, member, other)) {
                assertTrue(child.waitFor(30, TimeUnit.SECONDS));
            }
            // The subscriber checks content and order.
            final int frames = feeder.frames();
            for (final String log : List.of("subscriber", "member", "other")) {
                final List<String> printed = lines(log);
                assertEquals("END_OF_STREAM 0 ", printed.getLast(), () -> log + " " + printed);
                assertTrue(
                        printed.contains("session of 0 first 0 next " + frames + " frames " + frames),
                        () -> log + " " + printed);
            }
        }
        return true;
    }

    private static long count(final Path counters, final String name) {
        if (!Files.exists(counters)) {
            return 0;
        }
        try (CounterReader reader = CounterReader.open(counters)) {
            return reader.samples().stream()
                    .filter(sample -> sample.name().equals(name))
                    .mapToLong(CounterSample::value)
                    .sum();
        } catch (final ConfigException e) {
            // The process is about to write the line.
            return 0;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"udp", "aeron"})
    void shouldFollowSourceThatIsStartedAgainWhenItsProcessWasKilled(final String transport) throws Exception {
        final Channel channel = StreamFixture.channel(transport, SETTINGS);
        final Process subscriber = start("subscriber", "subscribe", channel + "|rejoin=30s");
        final Process first = start("first", "publish", channel.toString(), "1");
        until(() -> frames("subscriber") > 0, "first frames");
        first.destroyForcibly().waitFor();
        final int before = frames("subscriber");
        start("second", "publish", channel.toString(), "2");
        until(() -> frames("subscriber") > before + 200, "frames of the second");
        final List<String> events = lines("subscriber").stream()
                .filter(line -> !line.startsWith("frames "))
                .toList();
        assertEquals(List.of("JOINED 0", "LOST -1", "REJOINED 0"), events);
        assertTrue(subscriber.isAlive());
    }
}
