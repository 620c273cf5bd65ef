package io.framecast.perf.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.framecast.api.error.ConfigException;
import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.harness.ParsedOptions;
import io.framecast.perf.rivals.Bystander;
import io.framecast.perf.rivals.StreamSpec;
import io.framecast.perf.table.Figure;
import io.framecast.perf.table.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeBenchTest {
    private static NodeOptions options(final String... words) {
        return ParsedOptions.of(new NodeOptions(), words);
    }

    @Test
    void shouldMeasureLongFramesAtFullRateAndShortOnesAtAModestOne() {
        final BenchPlan plan =
                options("--net", "loopback", "--subscribers", "1,3").plan();
        assertEquals(
                List.of("1048576 1 0", "1048576 3 0", "64 1 1000", "64 3 1000"),
                plan.parts().stream()
                        .map(BenchPlan.Part::setting)
                        .map(one -> one.frameBytes() + " " + one.receivers() + " " + Math.round(one.framesPerSecond()))
                        .toList());
        assertEquals(
                List.of("framecast:udp", "host-group", "shmem", "local", "copy"),
                plan.parts().getFirst().systems().stream()
                        .map(BenchSystem::name)
                        .toList());
        // One set of processes for all numbers of subscribers.
        assertEquals(2, plan.groups().size());
    }

    @Test
    void shouldCopyInTheBackgroundOnDevicesAlone() {
        final BenchPlan plan = options(
                        "--net",
                        "loopback",
                        "--subscribers",
                        "2",
                        "--device",
                        "host,emulated:0",
                        "--frame-bytes",
                        "1M",
                        "--background-rate",
                        "0,400M",
                        "--link-rate",
                        "1000000000")
                .plan();
        assertEquals(
                List.of(
                        new StreamSpec.Readers("host", 0, 0),
                        new StreamSpec.Readers("emulated:0", 1_000_000_000, 0),
                        new StreamSpec.Readers("emulated:0", 1_000_000_000, 400 << 20)),
                plan.parts().stream().map(part -> part.setting().readers()).toList());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--scheme ghost | --scheme: expected independent, host-group, shmem, local, copy, got ghost",
                "--frame-bytes 100 | --frame-bytes: expected multiples of 8, got 100",
                "--subscribers 0 | --subscribers: expected 1 … 16, got 0",
                "--device gpu | --device: expected host, emulated[:N] or cuda:N, got gpu",
                "--net veth | --net: expected bridge, loopback, got veth",
            })
    void shouldRefuse(final String words, final String complaint) {
        final List<String> all = new ArrayList<>(List.of(words.split(" ", -1)));
        if (!words.contains("--net")) {
            all.addAll(List.of("--net", "loopback"));
        }
        final String[] command = all.toArray(String[]::new);
        assertEquals(
                complaint,
                assertThrows(ConfigException.class, () -> options(command).plan())
                        .getMessage());
    }

    private static BenchRow row(
            final BenchSystem system,
            final int subscribers,
            final int frameBytes,
            final double rate,
            final double figure) {
        final BenchCase setting = new BenchCase(
                BenchScenario.THROUGHPUT,
                BenchNet.BRIDGE,
                frameBytes,
                subscribers,
                1500,
                0,
                true,
                rate,
                Bystander.NONE,
                new StreamSpec.Readers("emulated:0", 0, 0));
        final RoundResult round = new RoundResult(
                "udp",
                figure,
                1,
                0,
                1,
                1,
                1,
                0,
                1e3 * figure,
                2,
                3,
                0,
                0,
                new RoundResult.OnHost("staged", 0.5, 6_000, 1.5, 1 << 20),
                new StartWindows(Double.NaN, List.of()));
        return new BenchRow(setting, system, List.of(Outcome.of(round)), 1, Map.of());
    }

    @Test
    void shouldHaveTheFieldsOfARow() {
        final Map<String, ?> json = NodeTable.TABLE.json(row(BenchSystem.framecast("udp"), 3, 1 << 20, 0, 7));
        assertEquals("independent", json.get("scheme"));
        assertEquals("remote", json.get("source"));
        assertEquals(3, json.get("subscribers"));
        assertEquals("staged", json.get("placement"));
        assertEquals(true, json.get("emulated"));
        assertEquals(7.0, json.get("goodput_MBps"));
        assertEquals(0.5, json.get("subscriber_cpu_s_per_GB"));
        assertEquals(6_000.0, json.get("datagrams_read"));
        assertEquals(1.0 * (1 << 20), json.get("memory_bytes"));
        assertEquals(7_000.0, json.get("p50_us"));
        assertEquals(2.0, json.get("p99_us"));
        assertEquals(
                "local",
                NodeTable.TABLE.json(row(BenchSystem.COPY, 3, 64, 0, 7)).get("source"));
    }

    @Test
    void shouldDrawLatencyByLengthAndGoodputBySubscribersAndSayWhatIsEmulated() {
        final List<BenchRow> rows = new ArrayList<>();
        for (final BenchSystem system : List.of(BenchSystem.HOST_GROUP, BenchSystem.SHMEM)) {
            rows.add(row(system, 4, 64, 20, 1));
            rows.add(row(system, 4, 1 << 20, 20, 2));
            rows.add(row(system, 1, 1 << 20, 0, 3));
            rows.add(row(system, 4, 1 << 20, 0, 4));
        }
        final List<Figure> figures = NodeTable.figures(rows);
        assertEquals(
                List.of(
                        "Latency of a frame, 4 receivers, bridge, device emulated:0 (emulated)",
                        "Goodput to each subscriber, 1 MiB, bridge, device emulated:0 (emulated)",
                        "CPU of the subscribers, 1 MiB, bridge, device emulated:0 (emulated)"),
                figures.stream().map(Figure::title).toList());
        assertEquals(List.of("64 B", "1 MiB"), figures.getFirst().categories());
        assertEquals(List.of("1", "4"), figures.get(1).categories());
        assertEquals(2.0, figures.getFirst().series().get("shmem").get(1).median());
        assertEquals(4.0, figures.get(1).series().get("host-group").get(1).median());
    }
}
