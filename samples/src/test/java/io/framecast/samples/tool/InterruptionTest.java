package io.framecast.samples.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.samples.Console;
import io.framecast.samples.Environment;
import io.framecast.samples.ExitStatus;
import io.framecast.samples.NodeOptions;
import io.framecast.samples.Stop;
import io.framecast.samples.input.FrameInput;
import io.framecast.samples.publish.PublishPlan;
import io.framecast.samples.publish.PublishRun;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Both ends report a stream that ends early: no subscriber takes a part for the whole.
final class InterruptionTest {
    private final ToolFixture tool = new ToolFixture();

    @TempDir
    private Path directory;

    private void awaitFrames() {
        ToolFixture.awaitWhile(() -> tool.network.subscribers.isEmpty()
                || tool.network.subscribers.getFirst().stats().frames() == 0);
    }

    private ToolFixture.Background publishFile(final String... more) throws Exception {
        final Path file = Files.write(directory.resolve("in"), new byte[1_000_000]);
        final String[] arguments = {
            "publish", ToolFixture.URI, "--input", file.toString(), "--frame-bytes", "100", "--rate", "50", "--json=-"
        };
        final String[] all = java.util.Arrays.copyOf(arguments, arguments.length + more.length);
        System.arraycopy(more, 0, all, arguments.length, more.length);
        return tool.start(all);
    }

    @AfterEach
    void endAll() throws InterruptedException {
        tool.endAll();
    }

    @Test
    void shouldNotEndTheStreamWhenAFileIsInterrupted() throws Exception {
        final var subscriber = tool.startApart("subscribe", ToolFixture.URI, "--json", "-");
        final var publisher = publishFile();
        awaitFrames();
        tool.stop.request();
        final var publish = publisher.join();
        assertEquals(ExitStatus.INTERRUPTED, publish.status());
        assertEquals(true, publish.json().get("interrupted"));
        assertTrue((long) ((Map<?, ?>) publish.json().get("publisher")).get("frames") > 0);
        assertTrue(publish.err().strip().endsWith("subscribers report the source lost"), publish.err());
        assertTrue(tool.network.publisher.abandoned && !tool.network.publisher.ended);
        subscriber.join().assertFailed(ExitStatus.PEER_LOST, "it closed without end of stream");
    }

    @Test
    void shouldEndTheStreamInOrderWhenADemosFileIsStopped() throws Exception {
        final var subscriber = tool.startApart("subscribe", ToolFixture.URI, "--json", "-");
        final var publisher = publishFile("--child");
        awaitFrames();
        tool.stop.request();
        final var publish = publisher.join();
        assertEquals(ExitStatus.DONE, publish.status(), publish.err());
        assertNull(publish.json().get("interrupted"));
        assertEquals(ExitStatus.DONE, subscriber.join().status());
    }

    @Test
    void shouldEndTheStreamInOrderWhenAFilesTimeIsOver() throws Exception {
        final var subscriber = tool.start("subscribe", ToolFixture.URI, "--json", "-");
        final var publish = publishFile("--seconds", "0.1").join();
        assertEquals(ExitStatus.DONE, publish.status(), publish.err());
        assertEquals(ExitStatus.DONE, subscriber.join().status());
    }

    @Test
    void shouldNotEndTheStreamWhenTheInputFails() throws Exception {
        final Path file = Files.write(directory.resolve("in"), new byte[1_000_000]);
        final var subscriber = tool.start("subscribe", ToolFixture.URI, "--json", "-");
        final var publisher = tool.start(
                "publish",
                ToolFixture.URI,
                "--input",
                file.toString(),
                "--frame-bytes",
                "100",
                "--rate",
                "100",
                "--json=-");
        awaitFrames();
        try (RandomAccessFile cut = new RandomAccessFile(file.toFile(), "rw")) {
            cut.setLength(150);
        }
        publisher.join().assertFailed(ExitStatus.USAGE, "it was cut to ");
        assertFalse(tool.network.publisher.ended);
        subscriber.join().assertFailed(ExitStatus.PEER_LOST, "source lost after ");
    }

    @Test
    void shouldNotEndTheStreamWhenSubscribersDoNotCome() throws Exception {
        final var subscriber = tool.start("subscribe", ToolFixture.URI, "--json", "-");
        ToolFixture.awaitWhile(() -> tool.network.subscribers.isEmpty());
        tool.run(
                        "publish",
                        ToolFixture.URI,
                        "--input",
                        "test",
                        "--wait-subscribers",
                        "2",
                        "--wait-timeout",
                        "0.05",
                        "--json=-")
                .assertFailed(ExitStatus.USAGE, "is on this channel: subscribers follow one");
        assertEquals(ExitStatus.PEER_LOST, subscriber.join().status());
    }

    @Test
    void shouldTellThatASubscriberWasInterrupted() throws Exception {
        final Path out = directory.resolve("out");
        final var subscriber = tool.start("subscribe", ToolFixture.URI, "--out", out.toString(), "--json", "-");
        tool.startApart("publish", ToolFixture.URI, "--input", "test", "--frame-bytes", "64", "--child");
        awaitFrames();
        tool.stop.request();
        final var run = subscriber.join();
        assertEquals(ExitStatus.INTERRUPTED, run.status(), run.err());
        assertEquals(true, run.json().get("interrupted"));
        assertTrue(run.err().strip().endsWith("before the end of the stream"), run.err());
        final List<?> subscribers = (List<?>) run.json().get("subscribers");
        assertEquals(((Map<?, ?>) subscribers.getFirst()).get("bytes"), Files.size(out));
    }

    @Test
    void shouldSayThatNothingWasPublishedWhenInterruptedBeforeSubscribersCome() throws Exception {
        final var publisher = tool.start("publish", ToolFixture.URI, "--input", "test", "--json", "-");
        ToolFixture.awaitWhile(() -> tool.network.publisher == null);
        tool.stop.request();
        publisher.join().assertFailed(ExitStatus.INTERRUPTED, "nothing was published");
    }

    @Test
    void shouldEndAtOnceWhenAllLeftBeforeTheEnd() throws Exception {
        final var subscriber = tool.start("subscribe", ToolFixture.URI, "--frames", "2");
        ToolFixture.awaitWhile(() -> tool.network.subscribers.isEmpty());
        tool.run("publish", ToolFixture.URI, "--input", "test", "--rate", "0", "--frames", "30", "--json", "-")
                .assertFailed(ExitStatus.PEER_LOST, "all left before the end, and none is there for the rest");
        assertEquals(ExitStatus.DONE, subscriber.join().status());
    }

    @Test
    void shouldGoOnWithANewSubscriberWhenALiveInputsLastOneLeft() throws Exception {
        final var first = tool.start("subscribe", ToolFixture.URI, "--frames", "2");
        ToolFixture.awaitWhile(() -> tool.network.subscribers.isEmpty());
        final var publisher = tool.start("publish", ToolFixture.URI, "--input", "test", "--frame-bytes", "64");
        assertEquals(ExitStatus.DONE, first.join().status());
        ToolFixture.awaitWhile(() -> !tool.network.publisher.alone);
        final var second = tool.start("subscribe", ToolFixture.URI, "--frames", "2");
        assertEquals(ExitStatus.DONE, second.join().status());
        tool.stop.request();
        final var publish = publisher.join();
        assertEquals(ExitStatus.DONE, publish.status(), publish.err());
        assertTrue(publish.err().contains("waiting 30.0 s for another (--wait-timeout)"), publish.err());
    }

    /// As an ffmpeg that hears Ctrl-C, too: it fails.
    private record StoppedInput(Stop stop, boolean isUnfinished) implements FrameInput {
        @Override
        public long nextBytes() {
            return 10;
        }

        @Override
        public long read(final MemorySegment target) throws IOException {
            stop.request();
            throw new IOException("ffmpeg ended with status 255");
        }

        @Override
        public void cancel() {}

        @Override
        public void close() {}
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldTakeTheUsersStopForNoFailureWhenItEndsTheInputToo(final boolean unfinished) {
        final Environment environment = new Environment(
                tool.in,
                OutputStream.nullOutputStream(),
                new Console(new PrintStream(OutputStream.nullOutputStream()), false),
                tool.network::launch,
                tool.children,
                List::of,
                tool.stop);
        final PublishPlan plan = new PublishPlan(
                0,
                Long.MAX_VALUE,
                PublishPlan.Keyframes.ALL,
                NodeOptions.FOREVER,
                1,
                Duration.ZERO,
                Duration.ZERO,
                Duration.ZERO,
                false);
        final Framecast node = tool.network.launch(NodeConfig.DEFAULT);
        node.subscribe(Channel.parse(ToolFixture.URI));
        final Publisher publisher = node.publish(Channel.parse(ToolFixture.URI));
        final boolean whole =
                new PublishRun(publisher, new StoppedInput(tool.stop, unfinished), plan, 10, environment).run();
        assertEquals(unfinished, !whole);
        assertEquals(unfinished, tool.network.publisher.abandoned);
        assertEquals(!unfinished, tool.network.publisher.ended);
    }
}
