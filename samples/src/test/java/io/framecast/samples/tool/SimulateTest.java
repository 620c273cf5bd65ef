package io.framecast.samples.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.samples.ExitStatus;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class SimulateTest {
    private final ToolFixture tool = new ToolFixture();

    @Test
    void shouldGiveTheSameDigestWhenRunAgain() {
        final String[] arguments = {"simulate", "--seeds", "1..30", "--receivers", "3", "--crashes", "--json", "-"};
        final Map<?, ?> first = tool.run(arguments).json();
        final Map<?, ?> second = tool.run(arguments).json();
        assertEquals(
                List.of(
                        "seeds",
                        "events",
                        "drops",
                        "losses",
                        "repairs",
                        "evictions",
                        "frames",
                        "given_up",
                        "crashes",
                        "restarts",
                        "pauses",
                        "rejoins",
                        "partitions",
                        "clogs",
                        "stalls",
                        "failovers",
                        "takeovers",
                        "repair_ratio_max",
                        "digest"),
                List.copyOf(first.keySet()));
        assertEquals(30L, first.get("seeds"));
        assertTrue((long) first.get("drops") > 0);
        assertTrue((long) first.get("repairs") > 0);
        assertTrue((double) first.get("repair_ratio_max") > 0);
        for (final String trouble : List.of(
                "crashes",
                "restarts",
                "pauses",
                "rejoins",
                "evictions",
                "partitions",
                "clogs",
                "stalls",
                "failovers")) {
            assertTrue((long) first.get(trouble) > 0, trouble);
        }
        assertEquals(first, second);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "no-duplicate-check",
                "ignore-credit",
                "reuse-unacked-slot",
                "skip-reassembly",
                "forget-nack",
                "wrong-frame-boundary",
                "stale-session"
            })
    void shouldPrintTheFirstFailingSeedWhenTheProtocolIsBroken(final String plant) {
        final ToolFixture.Run run = tool.run(
                "simulate", "--seeds", "1..20", "--receivers", "8", "--loss", "0.05", "--plant", plant, "--json", "-");
        assertEquals(ExitStatus.MISMATCH, run.status());
        final long seed = (long) run.json().get("failing_seed");
        assertTrue(run.err().contains("seed " + seed + ": "), run.err());
        final String replay = (String) run.json().get("replay");
        assertEquals("framecast simulate --seeds " + seed + " --receivers 8 --loss 0.05 --plant " + plant, replay);
        final String[] words = replay.substring("framecast ".length()).split(" ", -1);
        assertEquals(ExitStatus.MISMATCH, tool.run(words).status());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "no-eviction",
                "hasty-eviction",
                "keep-dead-source",
                "ignore-clock-skew",
                "accept-old-session",
                "release-twice",
                "release-early",
                "drop-whole-frames",
                "reuse-copied-slot",
                "deliver-uncopied",
                "grant-held-slots",
                "forget-taken-back",
                "repair-storm"
            })
    void shouldNameTheFlagsThatReplayItWhenProcessesCrash(final String plant) {
        final String[] arguments = {
            "simulate", "--seeds", "1..100", "--receivers", "8", "--loss", "0.05", "--crashes", "--plant", plant
        };
        final ToolFixture.Run run = tool.run(arguments);
        assertEquals(ExitStatus.MISMATCH, run.status());
        final String error = run.err();
        final String replay =
                error.substring(error.indexOf("framecast simulate --seeds ")).strip();
        assertTrue(replay.endsWith(" --receivers 8 --loss 0.05 --crashes --plant " + plant), replay);
        final String[] words = replay.substring("framecast ".length()).split(" ", -1);
        assertEquals(ExitStatus.MISMATCH, tool.run(words).status());
    }

    @ParameterizedTest
    @CsvSource({
        "--seeds, 5..1, --seeds: expected A..B",
        "--seeds, all, --seeds: expected A..B",
        "--seeds, 1..99999999, --seeds: expected A..B",
        "--receivers, 0, --receivers: expected 1",
        "--loss, 1, --loss: expected 0",
        "--loss, -0.5, --loss: expected 0",
        "--host-group, 0, --host-group: expected 1",
        "--plant, take-over-late, --plant: take-over-late is a bug of host groups",
        "--plant, nonce-reused, --plant: nonce-reused is a bug of protection",
        "--plant, weeds, --plant: unknown plant weeds; known are no-duplicate-check"
    })
    void shouldNameWhatIsWrongWhenAnOptionIs(final String option, final String value, final String message) {
        tool.run("simulate", option, value, "--json", "-").assertFailed(ExitStatus.USAGE, message);
    }

    @Test
    void shouldRunHostsOfSeveralProcesses() {
        final String[] hosts = {"simulate", "--seeds", "1..20", "--receivers", "2", "--host-group", "4", "--crashes"};
        final Map<?, ?> clean = tool.run(append(hosts, "--json", "-")).json();
        assertTrue((long) clean.get("takeovers") > 0);
        final ToolFixture.Run broken = tool.run(append(hosts, "--plant", "take-over-late", "--json", "-"));
        assertEquals(ExitStatus.MISMATCH, broken.status());
        final String replay = (String) broken.json().get("replay");
        assertTrue(replay.endsWith(" --crashes --host-group 4 --plant take-over-late"), replay);
        final String[] words = replay.substring("framecast ".length()).split(" ", -1);
        assertEquals(ExitStatus.MISMATCH, tool.run(words).status());
    }

    @Test
    void shouldRunProtectedStreamsUnderAttack() {
        final String[] attacked = {"simulate", "--seeds", "1..20", "--receivers", "3", "--adversary", "--crashes"};
        final Map<?, ?> clean = tool.run(append(attacked, "--json", "-")).json();
        assertTrue((long) clean.get("frames") > 0);
        assertEquals(
                clean.get("digest"),
                tool.run(append(attacked, "--json", "-")).json().get("digest"));
        final ToolFixture.Run broken = tool.run(append(attacked, "--plant", "repair-tag-unchecked", "--json", "-"));
        assertEquals(ExitStatus.MISMATCH, broken.status());
        final String replay = (String) broken.json().get("replay");
        assertTrue(replay.endsWith(" --crashes --adversary --plant repair-tag-unchecked"), replay);
        final String[] words = replay.substring("framecast ".length()).split(" ", -1);
        assertEquals(ExitStatus.MISMATCH, tool.run(words).status());
    }

    @ParameterizedTest
    @ValueSource(strings = {"--one-sided", "--direct", "--host-group=2"})
    void shouldAttackEveryWayOfReceiving(final String way) {
        final ToolFixture.Run attacked =
                tool.run("simulate", "--adversary", way, "--receivers", "3", "--seeds", "1..3", "--json", "-");
        assertEquals(ExitStatus.DONE, attacked.status());
        assertEquals(3L, ((Number) attacked.json().get("seeds")).longValue());
    }

    private static String[] append(final String[] words, final String... more) {
        return Stream.concat(Stream.of(words), Stream.of(more)).toArray(String[]::new);
    }

    @Test
    void shouldNotPassWhenNothingWasChecked() {
        int empty = 0;
        for (int seed = 1; seed <= 20; seed++) {
            final var run =
                    tool.run("simulate", "--seeds", "" + seed, "--receivers", "1", "--loss", "0.9", "--json", "-");
            if (run.json().get("frames").equals(0L)) {
                empty++;
                assertEquals(ExitStatus.MISMATCH, run.status());
                assertTrue(run.err().contains("nothing was checked: lower --loss"), run.err());
            }
        }
        assertTrue(empty > 0, "one of twenty joins in vain");
    }

    @Test
    void shouldSpeakOfOneSeed() {
        final String text = tool.run("simulate", "--seeds", "5").outText();
        assertTrue(text.startsWith("1 seed, "), text);
    }
}
