package io.framecast.perf.litmus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.KernelSource;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.CounterSample;
import io.framecast.gpu.emulated.EmulatedConfig;
import io.framecast.gpu.emulated.EmulatedProvider;
import io.framecast.testing.TestJvm;
import io.framecast.testing.TestPorts;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Devices that fail, over real lanes: their subscriber is notified in one line, the others receive every byte.
class DeviceFaultsTest {
    private static final long WAIT_NS = 60_000_000_000L;
    private static final int FRAME_BYTES = 64 << 10;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment sent = arena.allocate(FRAME_BYTES);

    @TempDir
    Path folder;

    private Framecast node;
    private final String group = "framecast:udp?group=224.20.30.48:" + TestPorts.triple()
            + "|interface=127.0.0.1|alive-timeout=5000|frame-max=" + FRAME_BYTES + "|device=";

    @BeforeEach
    void launch() {
        node = Framecast.launch(NodeConfig.DEFAULT.withCountersFile(folder.resolve("counters")));
    }

    private long counted(final String name) {
        try (CounterReader reader = CounterReader.open(folder.resolve("counters"))) {
            return reader.samples().stream()
                    .filter(sample -> sample.name().equals(name))
                    .mapToLong(CounterSample::value)
                    .sum();
        }
    }

    @AfterEach
    void close() {
        EmulatedProvider.configure(EmulatedConfig.DEFAULT);
        node.close();
        arena.close();
    }

    private Subscriber subscribe(final String device) {
        return node.subscribe(Channel.parse(group + device));
    }

    private static void await(final BooleanSupplier condition, final String what) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < WAIT_NS, what);
            Thread.onSpinWait();
        }
    }

    private void publish(final Publisher publisher, final long round) {
        LitmusKernels.write(sent, round);
        await(
                () -> {
                    final long code = publisher.offer(sent, FrameOptions.DEFAULT);
                    if (code == Publisher.BACK_PRESSURED) {
                        publisher.awaitRoom(FRAME_BYTES, Duration.ofMillis(20));
                    }
                    return code > 0;
                },
                "frame " + round + " is taken");
    }

    private static void receive(final Subscriber subscriber, final long round) {
        await(() -> subscriber.awaitFrame(Duration.ofMillis(20)), "frame " + round + " comes");
        try (DeviceFrame frame = subscriber.poll()) {
            assertEquals(round, frame.frameId());
            assertEquals(0, LitmusKernels.wrongWords(frame.region().host(), round));
        }
    }

    @Test
    void shouldSayThatTheDeviceHasNoRoomAndServeOthers() {
        EmulatedProvider.configure(EmulatedConfig.DEFAULT.withMemory(FRAME_BYTES));
        final Subscriber poor = subscribe("emulated:0");
        final Subscriber other = subscribe("host");
        final Publisher publisher = node.publish(other.channel());
        await(() -> publisher.readySubscribers() == 1, "the other is ready");
        await(() -> poor.failure().isPresent(), "the poor one is notified");
        for (int round = 0; round < 50; round++) {
            publish(publisher, round);
            receive(other, round);
        }
        final String line = poor.failure().orElseThrow();
        assertTrue(line.contains("ring"), line);
        assertFalse(line.contains("\n"), line);
        assertEquals(0, poor.device().allocatedBytes());
        assertEquals("", poor.device().resources().toString());
    }

    @Test
    void shouldFailInOneLineAndHarmNoOtherWhenAKernelBreaksTheDevice() {
        final Subscriber broken = subscribe("emulated:0");
        final Subscriber other = subscribe("host");
        final Publisher publisher = node.publish(other.channel());
        await(() -> publisher.readySubscribers() == 2, "both are ready");
        try (DeviceStream stream = broken.device().openStream()) {
            stream.launch(
                    broken.device()
                            .load(new KernelSource(
                                    "stray", () -> new byte[0], (memory, _, _, a) -> memory.at(a[0], 8))),
                    1,
                    1,
                    64);
        }
        for (int round = 0; round < 100; round++) {
            publish(publisher, round);
            receive(other, round);
        }
        await(() -> broken.state() == Subscriber.State.FAILED, "it is notified");
        final String line = broken.failure().orElseThrow();
        assertTrue(line.contains("kernel stray failed"), line);
        assertEquals(Subscriber.State.READY, other.state());
        broken.close();
        await(() -> broken.device().allocatedBytes() == 0, "everything is given back");
        await(() -> broken.device().resources().toString().isEmpty(), "streams and events, too");
    }

    @Tag("campaign")
    @Test
    void shouldEvictAProcessThatWasKilledWhileItHeldFrames() throws Exception {
        final Process child = new ProcessBuilder(TestJvm.command(HoldingChild.class, group + "emulated:0", "2"))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader said =
                new BufferedReader(new InputStreamReader(child.getInputStream(), StandardCharsets.UTF_8))) {
            final Subscriber other = subscribe("host");
            final Publisher publisher = node.publish(other.channel());
            await(() -> publisher.readySubscribers() == 2, "both are ready");
            publish(publisher, 0);
            publish(publisher, 1);
            receive(other, 0);
            receive(other, 1);
            assertEquals("holding 2", said.readLine());
            child.destroyForcibly().waitFor();
            // More than its ring would take: the source waits for it until it is evicted, and no longer.
            for (int round = 2; round < 300; round++) {
                publish(publisher, round);
                receive(other, round);
            }
            assertEquals(1, publisher.stats().evictedSubscribers());
            assertEquals(1, publisher.readySubscribers());
            await(() -> counted("framecast_window_used_bytes") == 0, "nothing is kept for the one that is gone");
            assertEquals(1, counted("framecast_ready_members"));
        } finally {
            child.destroyForcibly();
        }
    }
}
