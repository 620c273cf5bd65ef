package io.framecast.engine.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.reliability.secure.ProtectionEvent;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The metrics of a running node for a stream whose numbers are known: by HTTP and by its counters file.
class MetricsTest {
    private static final int FRAMES = 20;
    // 1408 bytes to a datagram: 72 each.
    private static final int FRAME_BYTES = 100_000;
    private static final long DATAGRAMS = FRAMES * 72L;
    private static final String CHANNEL = "channel=\"cam1\"";

    private final Path counters = StreamFixture.countersFile();
    private final List<String> notices = new ArrayList<>();

    @Test
    void shouldTellWhatAStreamDidByHttpAndByFile() throws IOException {
        final NodeConfig config = NodeConfig.DEFAULT
                .withThreading(Threading.INVOKER)
                .withCountersFile(counters)
                .withMetricsPort(0)
                .withNotices(notices::add);
        final Channel channel = StreamFixture.channel("udp", "|channel=cam1|mtu=1500|frame-max=100000|device=host");
        try (Framecast node = Framecast.launch(config);
                Arena arena = Arena.ofConfined()) {
            final Subscriber subscriber = node.subscribe(channel);
            final Publisher publisher = node.publish(channel);
            until(node, () -> publisher.readySubscribers() == 1);
            final MemorySegment frame = arena.allocate(FRAME_BYTES);
            final int[] polled = new int[1];
            for (int i = 0; i < FRAMES; i++) {
                until(node, () -> {
                    polled[0] += subscriber.poll(DeviceFrame::close, 10);
                    return publisher.offer(frame, FrameOptions.DEFAULT) > 0;
                });
            }
            until(node, () -> (polled[0] += subscriber.poll(DeviceFrame::close, 10)) == FRAMES);
            // Each side publishes its counters at its own times.
            until(node, () -> wrong(file()).isEmpty());
            final Map<String, Double> scraped = scrape();
            assertEquals(List.of(), wrong(scraped));
            final double roundTrip = scraped.get("framecast_round_trip_seconds{" + CHANNEL + "}");
            assertTrue(roundTrip > 0 && roundTrip < 10, () -> "seconds: " + roundTrip);
            assertTrue(
                    scraped.containsKey("framecast_rejected_datagrams_total{" + CHANNEL + ",reason=\"bad_checksum\"}"),
                    () -> "" + scraped.keySet());
        }
    }

    @Test
    void shouldTellByHttpAndByFileWhatAProtectionDid(@TempDir final Path directory) throws IOException {
        final Path key = directory.resolve("key");
        Files.writeString(key, "one " + "6b".repeat(32) + "\n");
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        final NodeConfig config = NodeConfig.DEFAULT
                .withThreading(Threading.INVOKER)
                .withCountersFile(counters)
                .withMetricsPort(0)
                .withNotices(notices::add);
        final Channel channel = StreamFixture.channel("udp", "|channel=cam1|device=host|auth=psk:" + key);
        try (Framecast node = Framecast.launch(config)) {
            final Subscriber subscriber = node.subscribe(channel);
            final Publisher publisher = node.publish(channel);
            until(node, () -> publisher.readySubscribers() == 1 && subscriber.state() == Subscriber.State.READY);
            final String agreed = event("agreed");
            until(node, () -> file().getOrDefault(agreed, 0.0) == 1 && file().getOrDefault(event("opened"), 0.0) > 0);
            final Map<String, Double> scraped = scrape();
            assertTrue(scraped.get(event("sealed")) > 0, () -> "" + scraped.keySet());
            for (final ProtectionEvent event : ProtectionEvent.values()) {
                assertTrue(
                        scraped.containsKey(event(event.name().toLowerCase(Locale.ROOT))),
                        () -> event + " in " + scraped.keySet());
            }
        }
    }

    private static String event(final String name) {
        return "framecast_protection_events_total{" + CHANNEL + ",event=\"" + name + "\"}";
    }

    /// The counters that differ from the expected values.
    private static List<String> wrong(final Map<String, Double> values) {
        final Map<String, Double> wanted = Map.of(
                "framecast_published_frames_total{" + CHANNEL + "}",
                (double) FRAMES,
                "framecast_published_bytes_total{" + CHANNEL + "}",
                (double) FRAMES * FRAME_BYTES,
                "framecast_delivered_frames_total{" + CHANNEL + "}",
                (double) FRAMES,
                "framecast_delivered_bytes_total{" + CHANNEL + "}",
                (double) FRAMES * FRAME_BYTES,
                "framecast_in_place_frames_total{" + CHANNEL + "}",
                (double) FRAMES,
                "framecast_ready_members{" + CHANNEL + "}",
                1.0,
                "framecast_window_used_bytes{" + CHANNEL + "}",
                0.0,
                "framecast_evictions_total{" + CHANNEL + "}",
                0.0);
        final List<String> wrong = new ArrayList<>();
        wanted.forEach((name, value) -> {
            if (!value.equals(values.get(name))) {
                wrong.add(name + " is " + values.get(name) + ", not " + value);
            }
        });
        for (final String lane : List.of("framecast_sent_datagrams_total{", "framecast_received_datagrams_total{")) {
            final String name = lane + CHANNEL + ",lane=\"data\"}";
            // One probe each time the subscriber asked to join.
            final double count = values.getOrDefault(name, 0.0);
            if (count < DATAGRAMS || count > DATAGRAMS + 50) {
                wrong.add(name + " is " + count + ", not " + DATAGRAMS + " and some probes");
            }
        }
        return wrong;
    }

    private Map<String, Double> file() {
        final Map<String, Double> values = new HashMap<>();
        try (CounterReader reader = CounterReader.open(counters)) {
            for (final CounterSample sample : reader.samples()) {
                values.put(sample.name() + "{" + sample.labels() + "}", (double) sample.value());
            }
        }
        return values;
    }

    private Map<String, Double> scrape() throws IOException {
        final String prefix = "metrics: ";
        final String url = notices.stream()
                .filter(notice -> notice.startsWith(prefix))
                .findFirst()
                .orElseThrow()
                .substring(prefix.length());
        final Map<String, Double> values = new HashMap<>();
        try (InputStream body = URI.create(url).toURL().openStream()) {
            final String text = new String(body.readAllBytes(), StandardCharsets.UTF_8);
            for (final String line : text.lines().toList()) {
                final int space = line.lastIndexOf(' ');
                if (!line.startsWith("#") && space > 0) {
                    values.put(line.substring(0, space).replace(",}", "}"), Double.valueOf(line.substring(space + 1)));
                }
            }
        }
        return values;
    }

    private void until(final Framecast node, final BooleanSupplier condition) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < 60_000_000_000L, () -> "no progress: " + wrong(file()));
            node.doWork();
        }
    }
}
