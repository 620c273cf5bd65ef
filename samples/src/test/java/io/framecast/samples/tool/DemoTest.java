package io.framecast.samples.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.samples.ExitStatus;
import io.framecast.samples.NodeOptions;
import io.framecast.samples.demo.DemoPlan;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DemoTest {
    private static final String[] SMALL = {"demo", "--seconds", "1", "--frame-bytes", "3000", "--json", "-"};

    private final ToolFixture tool = new ToolFixture();
    private final ToolFixture.ThreadLauncher children = new ToolFixture.ThreadLauncher(tool);

    @TempDir
    private Path directory;

    DemoTest() {
        tool.children = children;
    }

    private static String[] small(final String... more) {
        final String[] all = java.util.Arrays.copyOf(SMALL, SMALL.length + more.length);
        System.arraycopy(more, 0, all, SMALL.length, more.length);
        return all;
    }

    private static String option(final List<String> arguments, final String name) {
        final int at = arguments.indexOf(name);
        return at < 0 ? "" : arguments.get(at + 1);
    }

    @AfterEach
    void endAll() throws InterruptedException {
        tool.endAll();
    }

    @Test
    void shouldVerifyThreeSubscribersAndReportExactlyTheKeys() {
        final var run = tool.run(SMALL);
        assertEquals(ExitStatus.DONE, run.status(), run.err());
        final Map<?, ?> json = run.json();
        assertEquals(
                List.of("transport", "device", "frame_bytes", "publisher", "subscribers", "goodput_MBps", "verified"),
                List.copyOf(json.keySet()));
        assertEquals("udp", json.get("transport"));
        assertEquals("fake:0", json.get("device"));
        assertEquals(3000L, json.get("frame_bytes"));
        assertEquals(true, json.get("verified"));
        final Map<?, ?> publisher = (Map<?, ?>) json.get("publisher");
        assertEquals(
                List.of("frames", "bytes", "stream_crc32c", "back_pressured", "sent_datagrams"),
                List.copyOf(publisher.keySet()));
        assertTrue((long) publisher.get("frames") > 0);
        final List<?> subscribers = (List<?>) json.get("subscribers");
        assertEquals(3, subscribers.size());
        for (final Object entry : subscribers) {
            assertEquals(publisher.get("stream_crc32c"), ((Map<?, ?>) entry).get("stream_crc32c"));
            assertEquals(publisher.get("frames"), ((Map<?, ?>) entry).get("frames"));
        }
        assertTrue((Double) json.get("goodput_MBps") > 0);
    }

    @Test
    void shouldSendLossSeedsAndPortsToEachChild() {
        final var run = tool.run(small("--loss", "0.02", "--seed", "7", "--metrics-port", "9000", "--device", "host"));
        assertEquals(ExitStatus.DONE, run.status(), run.err());
        final Set<String> seeds = new HashSet<>();
        final Set<String> ports = new HashSet<>();
        for (final List<String> child : children.launched) {
            assertEquals("0.02", option(child, "--loss"));
            seeds.add(option(child, "--seed"));
            ports.add(option(child, "--metrics-port"));
            assertTrue(child.get(1).contains("|frame-max=3000|device=host"), child.get(1));
            assertTrue(child.get(1).contains("interface=127.0.0.1"), child.get(1));
        }
        assertEquals(4, seeds.size(), "no two lose the same datagrams");
        assertEquals(Set.of("9000", "9001", "9002", "9003"), ports);
        assertEquals("7", option(children.launched.getFirst(), "--check-test"));
        assertEquals("7", option(children.launched.getLast(), "--seed"));
        assertEquals("3", option(children.launched.getLast(), "--wait-subscribers"));
        tool.network.configs.forEach(
                config -> assertEquals(0.02, config.faults().lossProbability()));
    }

    @Test
    void shouldPassTheInterfaceOn() {
        final var run = tool.run(small("--interface", "rxe2"));
        assertEquals(ExitStatus.DONE, run.status(), run.err());
        for (final List<String> child : children.launched) {
            assertTrue(child.get(1).contains("|interface=rxe2|"), child.get(1));
        }
    }

    @Test
    void shouldUseOtherPortsInEveryRun() {
        assertEquals(ExitStatus.DONE, tool.run(SMALL).status());
        tool.network.publisher = null;
        assertEquals(ExitStatus.DONE, tool.run(SMALL).status());
        assertNotEquals(
                children.launched.getFirst().get(1), children.launched.getLast().get(1));
    }

    @Test
    void shouldCompareAFilesBytesWithoutKnowingItsContent() throws Exception {
        final Path file = Files.write(directory.resolve("in"), new byte[10_000]);
        final var run = tool.run(small("--input", file.toString(), "--subscribers", "2"));
        assertEquals(ExitStatus.DONE, run.status(), run.err());
        assertEquals(4L, ((Map<?, ?>) run.json().get("publisher")).get("frames"));
        assertFalse(children.launched.getFirst().contains("--check-test"));
    }

    @Test
    void shouldExitWithMismatchWhenAByteIsWrong() {
        tool.network.corruptFrameId = 2;
        final var run = tool.run(SMALL);
        assertEquals(ExitStatus.MISMATCH, run.status());
        assertEquals(false, run.json().get("verified"));
        assertTrue(run.err().strip().lines().toList().getLast().contains("mismatch: subscriber 1: stream_crc32c"));
    }

    @Test
    void shouldEndAllWhenAChildIsKilled() {
        children.killIndex = 1;
        final var run = tool.run(SMALL);
        run.assertFailed(ExitStatus.PEER_LOST, "subscriber 2 was killed by signal 9");
        assertTrue(children.started.stream().allMatch(child -> child.killed), "all are ended");
    }

    @Test
    void shouldPassOnAChildsComplaint() {
        tool.network.refusal = "port 24326: in use";
        tool.run(SMALL).assertFailed(ExitStatus.USAGE, "publisher: port 24326: in use");
    }

    @Test
    void shouldShowATableForPeople() {
        final var run = tool.run("demo", "--seconds", "0.1", "--frame-bytes", "3000", "--subscribers", "1");
        assertEquals(ExitStatus.DONE, run.status(), run.err());
        assertTrue(run.outText().startsWith("transport udp, device fake:0, frames of 3,000 bytes"), run.outText());
        assertTrue(
                run.outText().contains("subscriber 1") && run.outText().strip().endsWith("verified"), run.outText());
    }

    @Test
    void shouldRefuseHostsThatSubscribersDoNotFill() {
        tool.run(small("--hosts", "4"))
                .assertFailed(ExitStatus.USAGE, "--hosts: expected 1 … 3, the subscribers, got 4");
        tool.run(small("--hosts", "2", "--transport", "aeron"))
                .assertFailed(ExitStatus.USAGE, "--hosts: expected --transport udp, got aeron");
    }

    @Test
    void shouldBoundTheRunByItsSeconds() {
        final DemoPlan brief = new DemoPlan(
                io.framecast.api.Channel.parse(ToolFixture.URI), 1_000, 1, 1, true, List.of(), new NodeOptions());
        assertTrue(brief.quietMax().toSeconds() < 120 && brief.quietMax().toSeconds() > 31);
    }
}
