package io.framecast.samples.tool;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.DeviceFrame;
import io.framecast.api.LossReason;
import io.framecast.api.SourceOptions;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.samples.ExitStatus;
import io.framecast.samples.FrameWorker;
import io.framecast.samples.FrameWorkerProvider;
import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PublishSubscribeTest {
    private final ToolFixture tool = new ToolFixture();

    @TempDir
    private Path directory;

    private static byte[] randomBytes(final int count) {
        final byte[] bytes = new byte[count];
        new Random(count).nextBytes(bytes);
        return bytes;
    }

    private static String crc(final byte[] bytes) {
        final CRC32C crc = new CRC32C();
        crc.update(bytes);
        return "%08x".formatted(crc.getValue());
    }

    private static Map<?, ?> received(final ToolFixture.Run run) {
        final List<?> list = (List<?>) run.json().get("subscribers");
        assertEquals(1, list.size());
        return (Map<?, ?>) list.getFirst();
    }

    @AfterEach
    void endAll() throws InterruptedException {
        tool.endAll();
    }

    @Test
    void shouldCarryAFileWithItsShortRestAndReportBothSides() throws Exception {
        final byte[] content = randomBytes(25_000);
        final Path file = Files.write(directory.resolve("in"), content);
        final Path out = directory.resolve("out");
        final var subscriber = tool.start("subscribe", ToolFixture.URI, "--out", out.toString(), "--json", "-");
        final var publish =
                tool.run("publish", ToolFixture.URI, "--input", file.toString(), "--frame-bytes", "4096", "--json=-");
        final var subscribe = subscriber.join();

        assertEquals(ExitStatus.DONE, publish.status(), publish.err());
        assertEquals(ExitStatus.DONE, subscribe.status(), subscribe.err());
        assertArrayEquals(content, Files.readAllBytes(out));
        assertEquals(
                "{\"transport\": \"udp\", \"frame_bytes\": 4096, \"publisher\": {\"frames\": 7, \"bytes\": 25000,"
                        + " \"stream_crc32c\": \"" + crc(content) + "\", \"back_pressured\": "
                        + ((Map<?, ?>) publish.json().get("publisher")).get("back_pressured")
                        + ", \"sent_datagrams\": 7}, \"subscribers\": []}\n",
                publish.outText());
        final Map<?, ?> report = subscribe.json();
        assertEquals(
                List.of("transport", "device", "frame_bytes", "subscribers", "goodput_MBps"),
                List.copyOf(report.keySet()));
        assertEquals("udp", report.get("transport"));
        assertEquals("fake:0", report.get("device"));
        assertEquals(4096L, report.get("frame_bytes"));
        final Map<?, ?> received = received(subscribe);
        assertEquals(
                List.of(
                        "frames",
                        "bytes",
                        "stream_crc32c",
                        "in_place_frames",
                        "reassembled_bytes",
                        "repaired_datagrams",
                        "dropped_frames",
                        "lost_frames",
                        "sources",
                        "rejoins",
                        "latency_us"),
                List.copyOf(received.keySet()));
        assertEquals(7L, received.get("frames"));
        assertEquals(25_000L, received.get("bytes"));
        assertEquals(crc(content), received.get("stream_crc32c"));
        assertEquals(List.of("p50", "p99", "max"), List.copyOf(((Map<?, ?>) received.get("latency_us")).keySet()));
        assertEquals(7, tool.network.publisher.claims, "frames are read into the window");
        assertNothingLeaked();
    }

    private void assertNothingLeaked() {
        tool.network.devices.forEach(device -> {
            assertEquals(0, device.pinnedSegments());
            assertEquals(0, device.allocatedBytes());
        });
        tool.network.subscribers.forEach(subscriber -> assertEquals(0, subscriber.held()));
    }

    @Test
    void shouldTellLostFramesByReasonAndInOneLine() throws Exception {
        for (long id = 3; id < 9; id++) {
            tool.network.lost.put(id, id == 5 ? LossReason.EXPIRED : LossReason.SUPERSEDED);
        }
        final var subscriber = tool.start("subscribe", ToolFixture.URI, "--delivery", "deadline=40ms", "--json", "-");
        tool.in = new ByteArrayInputStream(randomBytes(12_000));
        tool.run("publish", ToolFixture.URI, "--input", "-", "--frame-bytes", "1000");
        final var subscribe = subscriber.join();
        assertEquals(ExitStatus.DONE, subscribe.status(), subscribe.err());
        final Map<?, ?> received = received(subscribe);
        assertEquals(6L, received.get("frames"));
        assertEquals(6L, received.get("dropped_frames"));
        final Map<?, ?> lost = (Map<?, ?>) received.get("lost_frames");
        assertEquals(
                List.of("unrepairable", "expired", "superseded", "awaits_keyframe", "damaged", "not_a_member"),
                List.copyOf(lost.keySet()));
        assertEquals(List.of(0L, 1L, 5L, 0L, 0L, 0L), List.copyOf(lost.values()));
        final List<String> lines =
                subscribe.err().lines().filter(line -> line.contains("lost")).toList();
        assertEquals("framecast: lost 1 frame(s) up to number 3: 1 superseded", lines.getFirst());
        // The others in one line, unless the machine stood still for a second.
        assertEquals(
                6,
                lines.stream()
                        .mapToInt(line -> Integer.parseInt(line.replaceFirst("framecast: lost ([0-9]+) .*", "$1")))
                        .sum());
        assertNothingLeaked();
    }

    @Test
    void shouldTellSourceThatWasLostAndCameBack() throws Exception {
        tool.network.rejoinAtFrame = 4;
        final var subscriber =
                tool.start("subscribe", ToolFixture.URI, "--rejoin", "10s", "--join=keyframe", "--json=-");
        tool.run("publish", ToolFixture.URI, "--input", "test", "--frames", "9", "--frame-bytes", "999", "--rate", "0");
        final var subscribe = subscriber.join();
        assertEquals(ExitStatus.DONE, subscribe.status(), subscribe.err());
        assertEquals(1L, received(subscribe).get("rejoins"));
        assertEquals(2L, received(subscribe).get("sources"));
        assertEquals(
                List.of(
                        "framecast: source 00000000000000ca lost: silent for 5 s; waiting 10 s for it",
                        "framecast: source 00000000000000cb joined after a loss, at frame 4"),
                subscribe
                        .err()
                        .lines()
                        .filter(line -> line.contains("source 00000000000000c"))
                        .toList());
        assertEquals(
                new SourceOptions(
                        1,
                        10_000,
                        SourceOptions.JoinAt.KEYFRAME,
                        SourceOptions.NO_HOST_GROUP,
                        SourceOptions.Leaders.HOST,
                        1_000),
                tool.network.subscribers.getFirst().channel().stream().sources());
    }

    @Test
    void shouldWaitForSubscribersToComeBackWhenToldTo() throws Exception {
        tool.network.dropSubscriberAtFrame = 2;
        final var gone = tool.start("subscribe", ToolFixture.URI, "--json", "-");
        final var publish = tool.start(
                "publish",
                ToolFixture.URI,
                "--input=test",
                "--frames=6",
                "--frame-bytes=999",
                "--rate=0",
                "--rejoin=30s",
                "--json=-");
        assertEquals(ExitStatus.PEER_LOST, gone.join().status());
        final var back = tool.start("subscribe", ToolFixture.URI, "--json", "-");
        final var published = publish.join();
        assertEquals(ExitStatus.DONE, published.status(), published.err());
        assertEquals(1L, ((Map<?, ?>) published.json().get("publisher")).get("evicted_subscribers"));
        assertEquals(ExitStatus.DONE, back.join().status());
    }

    @Test
    void shouldPreferTheFlagToTheChannelWhenBothSayHowToDeliver() throws Exception {
        final String uri = ToolFixture.URI + "|delivery=evict=2s";
        final var subscriber = tool.start("subscribe", uri, "--delivery", "latest", "--json", "-");
        final var other = tool.start("subscribe", uri, "--json", "-");
        tool.run("publish", ToolFixture.URI, "--input", "test", "--frames", "1", "--frame-bytes", "999", "--rate", "0");
        subscriber.join();
        other.join();
        assertEquals(
                Set.of("latest", "evict=2s"),
                tool.network.subscribers.stream()
                        .map(joined -> joined.channel().stream().delivery().toString())
                        .collect(Collectors.toSet()));
    }

    @Test
    void shouldSizeTheLastFrameOfAPipeExactly() throws Exception {
        final byte[] content = randomBytes(10_001);
        tool.in = new ByteArrayInputStream(content);
        final var subscriber = tool.start("subscribe", ToolFixture.URI, "--out", "-");
        final var publish = tool.run("publish", ToolFixture.URI, "--input", "-", "--frame-bytes", "1000");
        final var subscribe = subscriber.join();
        assertEquals(ExitStatus.DONE, publish.status(), publish.err());
        assertArrayEquals(content, subscribe.out(), "stdout holds the frames and nothing else");
        assertTrue(subscribe.err().contains("received 11 frames, 10,001 bytes"), subscribe.err());
        assertTrue(publish.outText().contains("published 11 frames, 10,001 bytes by udp"), publish.outText());
    }

    @Test
    void shouldOfferFramesThatAreLongerThanTheWindow() throws Exception {
        tool.network.windowBytes = 1_000;
        final byte[] content = randomBytes(9_500);
        final Path file = Files.write(directory.resolve("in"), content);
        final var subscriber = tool.start("subscribe", ToolFixture.URI, "--json", "-");
        tool.run("publish", ToolFixture.URI, "--input", file.toString(), "--frame-bytes", "4k");
        assertEquals(crc(content), received(subscriber.join()).get("stream_crc32c"));
        assertEquals(3, tool.network.publisher.offers);
        assertEquals(0, tool.network.publisher.claims);
    }

    @Test
    void shouldLetFrameMaxFollowTheFramesUnlessTheChannelSaysIt() throws Exception {
        final var subscriber = tool.start("subscribe", ToolFixture.URI);
        tool.run("publish", ToolFixture.URI, "--input", "test", "--frames", "2", "--rate", "0", "--frame-bytes", "20M");
        subscriber.join();
        assertEquals(20L << 20, tool.network.publisher.channel().stream().frameMaxBytes());
        tool.run(
                        "publish",
                        ToolFixture.URI + "|frame-max=4096",
                        "--input",
                        "test",
                        "--frame-bytes",
                        "4097",
                        "--json",
                        "-")
                .assertFailed(ExitStatus.USAGE, "need frame-max=4097");
    }

    @Test
    void shouldFindAFrameWhoseContentIsWrong() throws Exception {
        tool.network.corruptFrameId = 3;
        final var subscriber = tool.start("subscribe", ToolFixture.URI, "--check-test", "9", "--json", "-");
        tool.run(
                "publish",
                ToolFixture.URI,
                "--input",
                "test",
                "--seed",
                "9",
                "--frames",
                "6",
                "--rate",
                "0",
                "--frame-bytes",
                "1000");
        final var run = subscriber.join();
        assertEquals(ExitStatus.MISMATCH, run.status());
        assertEquals(false, run.json().get("verified"));
        assertTrue(run.err().contains("mismatch: frame 3 differs at byte 500 of 1000"), run.err());
    }

    @Test
    void shouldVerifyTheTestPatternWhenNothingIsWrong() throws Exception {
        final var subscriber = tool.start("subscribe", ToolFixture.URI, "--check-test", "1", "--json", "-");
        tool.run("publish", ToolFixture.URI, "--input", "test", "--frames", "9", "--rate", "0", "--frame-bytes", "777");
        final var run = subscriber.join();
        assertEquals(ExitStatus.DONE, run.status(), run.err());
        assertEquals(true, run.json().get("verified"));
    }

    @Test
    void shouldEndWithPeerLostWhenTheSourceFallsSilent() throws Exception {
        tool.network.loseSourceAtFrame = 2;
        final var subscriber = tool.start("subscribe", ToolFixture.URI, "--json", "-");
        tool.run("publish", ToolFixture.URI, "--input", "test", "--frames", "3", "--rate", "0", "--frame-bytes", "100");
        subscriber.join().assertFailed(ExitStatus.PEER_LOST, "source lost after 2 frames: the source was silent");
        assertNothingLeaked();
    }

    @Test
    void shouldEndWithPeerLostWhenASubscriberFellSilent() throws Exception {
        tool.network.dropSubscriberAtFrame = 2;
        final var first = tool.start("subscribe", ToolFixture.URI);
        final var second = tool.start("subscribe", ToolFixture.URI, "--json", "-");
        final var publish = tool.run(
                "publish",
                ToolFixture.URI,
                "--input",
                "test",
                "--frames",
                "5",
                "--rate",
                "0",
                "--frame-bytes",
                "100",
                "--wait-subscribers",
                "2",
                "--json",
                "-");
        publish.assertFailed(ExitStatus.PEER_LOST, "1 subscriber(s) were evicted");
        assertEquals(5L, ((Map<?, ?>) publish.json().get("publisher")).get("frames"), "statistics beside the error");
        assertTrue(tool.network.publisher.ended, "the other one gets the end");
        final int statuses = first.join().status() + second.join().status();
        assertEquals(ExitStatus.PEER_LOST, statuses, "one lost, one done");
    }

    // Short frames, as fast as they are taken.
    private ToolFixture.Run publishTest(final String... more) {
        final List<String> arguments = new ArrayList<>(List.of(
                "publish", ToolFixture.URI, "--input", "test", "--rate", "0", "--frame-bytes", "64", "--json", "-"));
        arguments.addAll(List.of(more));
        return tool.run(arguments.toArray(String[]::new));
    }

    @Test
    void shouldSayLastWhatKeptItFromJoining() {
        tool.network.joinFailure = "ring-max: a source of frame-max=16777216 wants more";
        final var subscriber = tool.run("subscribe", ToolFixture.URI, "--wait-timeout", "0.05", "--json", "-");
        subscriber.assertFailed(ExitStatus.USAGE, "within 0.05 s: ring-max: a source of frame-max=16777216 wants more");
        assertFalse(subscriber.err().contains("no source was heard"), subscriber.err());
    }

    @Test
    void shouldSayWhoAskedToJoinAndWhatIsInTheWay() {
        tool.network.unready = List.of("10.0.0.3:41234 has asked to join 14 times", "10.0.0.4:9 was refused");
        final var publisher =
                tool.run("publish", ToolFixture.URI, "--input", "test", "--wait-timeout", "0.05", "--json", "-");
        publisher.assertFailed(
                ExitStatus.USAGE, "after 0.05 s: 10.0.0.3:41234 has asked to join 14 times; 10.0.0.4:9 was refused");
    }

    @Test
    void shouldWaitForAnotherWhenTheOnlySubscriberOfALiveInputFellSilent() throws Exception {
        tool.network.dropSubscriberAtFrame = 2;
        final var killed = tool.start("subscribe", ToolFixture.URI);
        ToolFixture.awaitWhile(() -> tool.network.subscribers.isEmpty());
        final var publish = publishTest("--wait-timeout", "0.3");
        publish.assertFailed(ExitStatus.PEER_LOST, "no other came within 0.3 s (--wait-timeout)");
        assertTrue(publish.err().contains("1 subscriber(s) were evicted"), publish.err());
        assertTrue(publish.err().contains("waiting 0.3 s for another"), publish.err());
        assertEquals(ExitStatus.PEER_LOST, killed.join().status());
    }

    @Test
    void shouldEndAtOnceWhenTheOnlySubscriberOfAFileFellSilent() throws Exception {
        tool.network.dropSubscriberAtFrame = 2;
        final var killed = tool.start("subscribe", ToolFixture.URI);
        final var publish = publishTest("--frames", "9");
        publish.assertFailed(
                ExitStatus.PEER_LOST, "no subscriber is left after 3 frames; 1 subscriber(s) were evicted");
        assertEquals(ExitStatus.PEER_LOST, killed.join().status());
    }

    @Test
    void shouldWaitForEverWhereTheTimeoutIsZero() throws Exception {
        final var publish = tool.start(
                "publish", ToolFixture.URI, "--input", "test", "--frames", "3", "--wait-timeout", "0", "--json", "-");
        ToolFixture.awaitWhile(() -> tool.network.publisher == null);
        final var subscriber = tool.start("subscribe", ToolFixture.URI, "--wait-timeout", "0", "--json", "-");
        assertEquals(ExitStatus.DONE, publish.join().status());
        assertEquals(3L, received(subscriber.join()).get("frames"));
    }

    @Test
    void shouldStopPublishingAtOnceAndInOrderWhenAsked() throws Exception {
        final var subscriber = tool.startApart("subscribe", ToolFixture.URI, "--check-test", "1", "--json", "-");
        final var publisher =
                tool.start("publish", ToolFixture.URI, "--input", "test", "--frame-bytes", "64", "--json=-");
        ToolFixture.awaitWhile(() -> tool.network.subscribers.isEmpty()
                || tool.network.subscribers.getFirst().stats().frames() == 0);
        tool.stop.request();
        assertEquals(ExitStatus.DONE, publisher.join().status());
        assertEquals(ExitStatus.DONE, subscriber.join().status());
    }

    @Test
    void shouldTakeNoMoreFramesThanAskedFor() throws Exception {
        final var subscriber = tool.start("subscribe", ToolFixture.URI, "--frames", "2", "--json", "-");
        ToolFixture.awaitWhile(() -> tool.network.subscribers.isEmpty());
        final var publish = publishTest("--wait-timeout", "0.2");
        assertEquals(2L, received(subscriber.join()).get("frames"));
        publish.assertFailed(ExitStatus.PEER_LOST, "no subscriber is left");
    }

    @Test
    void shouldEndAfterTheGivenSeconds() throws Exception {
        final var subscriber = tool.start("subscribe", ToolFixture.URI);
        final var publish = tool.run(
                "publish", ToolFixture.URI, "--input", "test", "--frame-bytes", "64", "--seconds", "1", "--json", "-");
        assertEquals(ExitStatus.DONE, publish.status(), publish.err());
        final long frames = (long) ((Map<?, ?>) publish.json().get("publisher")).get("frames");
        assertTrue(frames >= 1 && frames <= 61, "60 frames per second for a second gave " + frames);
        subscriber.join();
    }

    @Test
    void shouldEndInTimeWhenTheInputIsSilent() throws Exception {
        final java.nio.channels.Pipe silent = java.nio.channels.Pipe.open();
        tool.in = java.nio.channels.Channels.newInputStream(silent.source());
        final var subscriber = tool.start("subscribe", ToolFixture.URI);
        final var publish = tool.run("publish", ToolFixture.URI, "--input", "-", "--seconds", "0.1", "--json", "-");
        assertEquals(ExitStatus.DONE, publish.status(), publish.err());
        assertEquals(ExitStatus.DONE, subscriber.join().status());
        silent.sink().close();
    }

    /// Adds up lengths; holds no frame.
    private static final class LengthWorker implements FrameWorker {
        private long bytes;

        @Override
        public void onFrame(final DeviceFrame frame) {
            bytes += frame.length();
        }

        @Override
        public Map<String, Object> summary() {
            return Map.of("bytes_seen", bytes);
        }

        @Override
        public void close() {}
    }

    private record LengthProvider() implements FrameWorkerProvider {
        @Override
        public String name() {
            return "length";
        }

        @Override
        public FrameWorker open(final DeviceBackend device) {
            return new LengthWorker();
        }
    }

    @Test
    void shouldRunAWorkerOnEveryFrame() throws Exception {
        tool.workers = List.of(new LengthProvider());
        final var subscriber = tool.start("subscribe", ToolFixture.URI, "--worker", "length", "--json", "-");
        tool.run("publish", ToolFixture.URI, "--input", "test", "--frames", "4", "--rate", "0", "--frame-bytes", "50");
        assertEquals(Map.of("bytes_seen", 200L), subscriber.join().json().get("worker"));
        tool.run("subscribe", ToolFixture.URI, "--worker", "lenght", "--json", "-")
                .assertFailed(ExitStatus.USAGE, "unknown worker lenght; known are [length]");
    }

    @Test
    void shouldFailInOneLineWhenTheJoinIsRefused() throws Exception {
        final var subscriber = tool.start("subscribe", ToolFixture.URI, "--json", "-");
        ToolFixture.awaitWhile(() -> tool.network.subscribers.isEmpty());
        synchronized (tool.network) {
            tool.network.subscribers.getFirst().fail(Subscriber.State.FAILED, "ring: expected at least 9 bytes, got 3");
        }
        subscriber.join().assertFailed(ExitStatus.USAGE, "ring: expected at least 9 bytes");
        assertFalse(subscriber.isAlive());
    }
}
