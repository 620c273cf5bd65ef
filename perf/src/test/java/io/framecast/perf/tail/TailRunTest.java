package io.framecast.perf.tail;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.ConfigException;
import io.framecast.perf.harness.Networks;
import io.framecast.perf.harness.ParsedOptions;
import io.framecast.perf.harness.Records;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// `framecast bench tail`: its options, and a short stream between real processes.
final class TailRunTest {
    private static TailOptions options(final String... words) {
        return ParsedOptions.of(new TailOptions(), words);
    }

    @Test
    void shouldMeasureEachLengthWithAndWithoutOffload() {
        final List<TailCase> cases = options().cases();
        assertEquals(4, cases.size());
        assertEquals(new TailCase(1408, 2, 0.001, true, false), cases.getFirst());
        assertEquals(
                "1.00 MB, 2 subscribers, 0.1 % loss at each, offload on",
                cases.getLast().text());
        final TailCase one =
                options("--losing", "one", "--receivers", "3").cases().getFirst();
        assertEquals(List.of(0.001, 0.0, 0.0), one.losses());
    }

    @Test
    void shouldSayWhatIsWrongWithAnOption() {
        refuse("--receivers: expected 2 … 16, got 1", "--receivers", "1");
        refuse("--loss", "--loss", "0");
        refuse("--frame-bytes: expected 1024", "--frame-bytes", "64");
        refuse("--losing: expected each, one, got all", "--losing", "all");
        refuse("--offload", "--offload", "maybe");
        refuse("--rate", "--rate", "0.5");
    }

    private static void refuse(final String part, final String... words) {
        final ConfigException refusal =
                assertThrows(ConfigException.class, () -> options(words).cases());
        assertTrue(String.valueOf(refusal.getMessage()).contains(part), refusal::getMessage);
    }

    @Test
    void shouldTellProcessesTheirStreamInWords() {
        final TailSpec spec = new TailSpec(
                new TailSpec.Load(1_000_000, 12.5, 1_000, 2_000_000_000),
                5_000,
                List.of("10.0.0.1", "10.0.0.2"),
                "10.0.0.3");
        assertEquals(spec, Records.read(TailSpec.class, Records.write(spec)));
        assertEquals(26, spec.load().frames());
        assertEquals(711, spec.load().datagramsPerFrame());
    }

    @Tag("campaign")
    @Test
    void shouldKnowEveryLossAndItsRepair() throws Exception {
        final String why = Networks.unavailable();
        Assumptions.assumeTrue(why.isEmpty(), () -> "skipped: no network namespaces: " + why);
        final List<String> lines = new ArrayList<>();
        final TailRow row;
        try (TailRun run = new TailRun(0.3, 100, 2, lines::add)) {
            row = run.measure(new TailCase(20_000, 2, 0.05, true, false));
        }
        // 4500 datagrams to each of two, of which a twentieth is lost.
        assertTrue(row.lost() > 200, () -> row + " " + lines);
        assertTrue(row.repaired() >= row.lost(), row::toString);
        final TailJoin.Result late = row.late();
        assertTrue(late.datagrams().gaps().count() + late.datagrams().tails().count() > 100, row::toString);
        assertTrue(late.frames().gaps().count() + late.frames().tails().count() > 50, row::toString);
        assertTrue(late.datagrams().gaps().p50Us() > 0, row::toString);
        assertTrue(row.ping().count() > 10 && row.ping().p50Us() > 0, row::toString);
        // The reader of the interface may miss a packet where it is starved.
        assertTrue(late.counts().unmatched() <= row.lost() / 100, row::toString);
        final List<String> csv = TailRow.TABLE.csv(List.of(row)).lines().toList();
        assertEquals(2, csv.size());
        assertEquals(csv.getFirst().split(",", -1).length, csv.getLast().split(",", -1).length);
        assertTrue(TailRow.text(List.of(row)).contains("repair after its original"));
    }
}
