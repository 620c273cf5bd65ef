package io.framecast.samples.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.engine.metrics.Counter;
import io.framecast.engine.metrics.CounterTable;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.metrics.Labels;
import io.framecast.samples.ExitStatus;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class StatTest {
    private static final String LABELS = Labels.of("channel", "cam \"1\"", "lane", "data");

    @TempDir
    private Path directory;

    private final ToolFixture tool = new ToolFixture();

    private Path file() {
        return directory.resolve("a.counters");
    }

    @Test
    void shouldShowWhatWasCounted() {
        try (CounterTable table = CounterTable.create(file());
                Counter sent = table.allocate(EngineCounter.SENT_BYTES, LABELS);
                Counter acks = table.allocate(EngineCounter.ACKS_SENT, LABELS)) {
            sent.setOrdered(1_234_567);
            assertEquals(0, acks.get());
            final var people = tool.run("stat", "--counters", file().toString());
            assertEquals(ExitStatus.DONE, people.status(), people.err());
            assertTrue(people.outText()
                    .startsWith("process " + ProcessHandle.current().pid() + ", "));
            assertTrue(people.outText().contains("  " + LABELS), people.outText());
            assertTrue(people.outText().contains("1,234,567 bytes"), people.outText());
            assertFalse(people.outText().contains("acks"), people.outText());
            assertTrue(tool.run("stat", "--all", file().toString()).outText().contains("acks"));
        }
    }

    @Test
    void shouldTellEachStreamAndEachSubscriberInALine() {
        final String cam = Labels.of("channel", "cam1");
        final String member = Labels.of("channel", "cam1", "member", "10.0.0.7:4100", "delivery", "evict=2s");
        try (CounterTable table = CounterTable.create(file())) {
            table.allocate(EngineCounter.FRAMES_PUBLISHED, cam).setOrdered(1_500);
            table.allocate(EngineCounter.BYTES_PUBLISHED, cam).setOrdered(3_000_000);
            table.allocate(EngineCounter.MEMBERS_READY, cam).setOrdered(1);
            table.allocate(EngineCounter.EVICTIONS, cam).setOrdered(2);
            table.allocate(EngineCounter.MEMBER_LAG, member).setOrdered(12);
            table.allocate(EngineCounter.MEMBER_CREDIT, member).setOrdered(300);
            table.allocate(EngineCounter.MEMBER_HELD_BACK, member).setOrdered(2_500_000_000L);
            table.allocate(EngineCounter.FRAMES_DELIVERED, Labels.of("channel", "cam2"))
                    .setOrdered(7);
            final String pid = Long.toString(ProcessHandle.current().pid());
            final List<String> lines =
                    tool.run("stat", file().toString()).outText().lines().toList();
            assertEquals(3, lines.size(), lines::toString);
            assertTrue(lines.get(0).startsWith(pid + " publishes cam1: 1,500 frames, 3.0 MB in "), lines.get(0));
            assertTrue(lines.get(0).endsWith(" 1 subscribers, 0 repairs sent, 0 times back-pressured, 2 evicted"));
            assertEquals(
                    pid + "   to 10.0.0.7:4100 (delivery=evict=2s): 12 datagrams behind, credit for 300,"
                            + " asked for 0 repairs, held the publisher back for 2.5 s",
                    lines.get(1));
            assertTrue(lines.get(2).startsWith(pid + " receives cam2: 7 frames, 0.0 MB in "), lines.get(2));
            final String rates = tool.run("stat", file().toString(), "--every", "0.01", "--json", "-")
                    .outText();
            assertTrue(rates.contains("member_lag_datagrams"), rates);
        }
    }

    @Test
    void shouldTellReadersOfTheHostByChannelWithWhatTheyHold() {
        try (CounterTable table = CounterTable.create(file())) {
            for (final String channel : List.of("cam1", "cam2")) {
                final String reader =
                        Labels.of("channel", channel, "member", "process 7 on this host", "delivery", "reliable");
                table.allocate(EngineCounter.FRAMES_PUBLISHED, Labels.of("channel", channel))
                        .setOrdered(1);
                table.allocate(EngineCounter.MEMBER_LAG, reader).setOrdered(3);
                table.allocate(EngineCounter.MEMBER_CREDIT, reader).setOrdered(60);
                table.allocate(EngineCounter.MEMBER_HELD_BACK, reader).setOrdered(500_000_000L);
                table.allocate(EngineCounter.MEMBER_FRAMES_HELD, reader).setOrdered(channel.equals("cam1") ? 2 : 0);
                table.allocate(EngineCounter.MEMBER_FRAMES_COPIED, reader).setOrdered(channel.equals("cam1") ? 14 : 0);
            }
            final String start = ProcessHandle.current().pid()
                    + "   to process 7 on this host (delivery=reliable): 3 datagrams behind, credit for 60,"
                    + " asked for 0 repairs, held the publisher back for 0.5 s";
            final List<String> lines =
                    tool.run("stat", file().toString()).outText().lines().toList();
            assertEquals(4, lines.size(), lines::toString);
            assertEquals(start + ", 2 frames held, 14 copied", lines.get(1));
            assertEquals(start, lines.get(3));
        }
    }

    @Test
    void shouldTellOneObjectWithRatesWhenAskedForJson() {
        try (CounterTable table = CounterTable.create(file());
                Counter sent = table.allocate(EngineCounter.SENT_BYTES, LABELS);
                Counter rtt = table.allocate(EngineCounter.ROUND_TRIP, Labels.NONE)) {
            sent.setOrdered(7);
            rtt.setOrdered(5);
            final Map<?, ?> json = tool.run("stat", file().toString(), "--every", "0.01", "--json", "-")
                    .json();
            final Map<?, ?> process = (Map<?, ?>) ((List<?>) json.get("processes")).getFirst();
            assertEquals(file().toString(), process.get("file"));
            final List<?> counters = (List<?>) process.get("counters");
            assertEquals(2, counters.size());
            final Map<?, ?> gauge = (Map<?, ?>) counters.get(0);
            assertEquals(Map.of(), gauge.get("labels"));
            assertFalse(gauge.containsKey("per_second"));
            final Map<?, ?> counter = (Map<?, ?>) counters.get(1);
            assertEquals("framecast_sent_bytes_total", counter.get("name"));
            assertEquals(Map.of("channel", "cam \"1\"", "lane", "data"), counter.get("labels"));
            assertEquals(7.0, ((Number) counter.get("value")).doubleValue());
            assertEquals("bytes", counter.get("unit"));
            assertEquals(0.0, ((Number) counter.get("per_second")).doubleValue());
        }
    }

    @Test
    void shouldFindTheProcessesThatRun() {
        // Where every process has its own by default.
        try (CounterTable table = CounterTable.create()) {
            final String pid = Long.toString(ProcessHandle.current().pid());
            assertTrue(tool.run("stat", pid, "--all")
                    .outText()
                    .contains(table.path().toString()));
            assertTrue(tool.run("stat", "--all").outText().contains(table.path().toString()));
        }
    }

    @Test
    void shouldSayWhatIsMissing() throws Exception {
        tool.run("stat", file().toString(), "--json", "-")
                .assertFailed(
                        ExitStatus.USAGE, "counters file " + file() + ": no such file; check that the process runs");
        Files.writeString(file(), "no counters");
        assertEquals(ExitStatus.USAGE, tool.run("stat", file().toString()).status());
        tool.run("stat", "999999999", "--json", "-")
                .assertFailed(
                        ExitStatus.USAGE, "process 999999999 has no counters here: see that it runs, as this user");
        tool.run("stat", "--every", "-1", "--json", "-")
                .assertFailed(ExitStatus.USAGE, "--every: expected seconds above 0, at most 86400, got -1.0");
        tool.run("stat", "--every", "0", "--json", "-")
                .assertFailed(ExitStatus.USAGE, "--every: expected seconds above 0, at most 86400, got 0.0");
    }
}
