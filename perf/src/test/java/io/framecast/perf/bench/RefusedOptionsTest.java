package io.framecast.perf.bench;

import static org.junit.jupiter.api.Assertions.assertAll;

import io.framecast.perf.harness.ToolRun;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// A command refuses a wrong option before it makes or asks anything of the system. The PATH of these commands has no
/// program: a command that looks for namespaces first names `ip` instead of the option.
final class RefusedOptionsTest {
    private static final String MISSING = "no ip, tc, nft, ethtool on the PATH: install iproute2, nftables, ethtool";

    /// Command, and part of the line that refuses it.
    private static final List<List<String>> REFUSED = List.of(
            List.of("bench streaming --net bridge --against star", "--against: expected ring"),
            List.of("bench streaming --net bridge --net-rate 50m --slow often", "--slow: expected reliable"),
            List.of("bench streaming --net bridge --subscribers 33", "--subscribers: expected 1 … 32, got 33"),
            List.of("bench streaming --net bridge --seconds 0", "--seconds: expected"),
            List.of("bench streaming --net bridge --mode some", "--mode: expected broadcast"),
            List.of("bench streaming --net bridge --out /proc/none", "--out: cannot make"),
            List.of("bench streaming --mode all-to-all --net bridge --processes 1", "--processes: expected 2"),
            List.of(
                    "bench streaming --mode all-to-all --net bridge --device emulated:0?peermem",
                    "--device: expected host or emulated[:N] with --mode all-to-all"),
            List.of("bench models --rounds 0", "--rounds: expected 1 … 100, got 0"),
            List.of("bench models --sizes 5", "--sizes: expected"),
            List.of("bench models --out /proc/none", "--out: cannot make"),
            List.of("bench loss --rounds 0", "--rounds: expected 1 … 1000, got 0"),
            List.of("bench loss --net veth --seconds 0", "--seconds: expected"),
            List.of("bench scaling --against ghost", "--against: expected floor"),
            List.of("bench latency --net veth --receivers 2", "--net veth joins one receiver"),
            List.of("bench isolation --net bridge --rate -1", "--rate: expected"),
            List.of("bench scaling --net bridge --out /proc/none", "--out: cannot make"),
            List.of("bench start --rounds 0", "--rounds: expected 1 … 100, got 0"),
            List.of("bench start --seconds 0", "--seconds: expected"),
            List.of("bench start --out /proc/none", "--out: cannot make"),
            List.of("bench node --subscribers 0", "--subscribers: expected 1"),
            List.of("bench node --net bridge --rounds 0", "--rounds: expected 1"),
            List.of("bench node --net bridge --device gpu", "--device: expected host"),
            List.of("bench node --net bridge --out /proc/none", "--out: cannot make"),
            List.of("bench tail --receivers 1", "--receivers: expected 2"),
            List.of("bench tail --load 2", "--load: expected"),
            List.of("bench tail --out /proc/none", "--out: cannot make"),
            List.of("bench control --receivers 0", "--receivers: expected 1"),
            List.of("bench arrival --blocks 0", "--blocks: expected 1"),
            List.of("litmus --rounds 0", "--rounds: expected 1"),
            List.of("chaos --subscribers 2", "--subscribers: expected 3 … 32, got 2"),
            List.of("chaos --transport tcp", "--transport: expected udp, verbs, got tcp"),
            List.of("demo --hosts 2 --seconds 0", "--seconds: expected more than 0"),
            List.of("demo --hosts 2 --rate -1", "--rate"),
            List.of("demo --hosts 2 --interface a|b", "--interface: expected a name"),
            List.of("demo --hosts 9", "--hosts: expected 1 … 3"),
            List.of("demo --hosts 2 --transport aeron", "--hosts: expected --transport udp"));

    /// Commands that need namespaces, all of them with options that fit.
    private static final List<List<String>> WITHOUT_TOOLS = List.of(
            List.of("bench streaming --net bridge", "--net bridge: network namespaces cannot be made here: " + MISSING),
            List.of("bench streaming --mode all-to-all --net bridge", "--net bridge: " + "network namespaces cannot"),
            List.of("bench models", MISSING),
            List.of("bench loss --net veth", "--net veth: network namespaces cannot be made here: " + MISSING),
            List.of("bench start", MISSING),
            List.of("bench node --net bridge", MISSING),
            List.of("bench tail", "bench tail: network namespaces cannot be made here: " + MISSING),
            List.of("chaos", "no ip, nft on the PATH: install iproute2, nftables"));

    private static List<ToolRun> runs;

    /// One process runs all of them.
    @BeforeAll
    static void run() throws Exception {
        runs = ToolRun.withoutPrograms(Stream.concat(REFUSED.stream(), WITHOUT_TOOLS.stream())
                .map(pair -> pair.getFirst() + " --json -")
                .toList());
    }

    @Test
    void shouldRefuseAnOptionBeforeItAsksForATool() {
        assertRefused(REFUSED, runs.subList(0, REFUSED.size()));
    }

    @Test
    void shouldNameInOneLineTheToolsThatAreMissing() {
        assertRefused(WITHOUT_TOOLS, runs.subList(REFUSED.size(), runs.size()));
    }

    private static void assertRefused(final List<List<String>> expected, final List<ToolRun> found) {
        assertAll(IntStream.range(0, expected.size())
                .mapToObj(i -> () -> found.get(i).assertRefused(expected.get(i).getLast())));
    }
}
