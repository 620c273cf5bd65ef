package io.framecast.perf.bench;

import static io.framecast.fuzz.FuzzLimits.require;
import static io.framecast.fuzz.FuzzLimits.requireAllocation;
import static io.framecast.fuzz.FuzzLimits.requireEqual;

import io.framecast.api.error.ConfigException;
import io.framecast.fuzz.FuzzCorpus;
import io.framecast.perf.harness.Records;
import io.framecast.perf.rivals.ReceiverReport;
import io.framecast.perf.rivals.StreamSpec;
import io.framecast.samples.options.Options;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/// The words of `framecast bench`, and the JSON of plans and reports that processes of a benchmark send each
/// other. An input that begins with `{` is JSON.
public final class PlanFuzzTest {
    private static final long ALLOCATED_MAX = 512 << 20;
    private static final int WORDS_MAX = 12;
    private static final String REPORT =
            "{\"frames\": 1, \"bytes\": 2, \"lostFrames\": 0, \"firstNs\": 1, \"lastNs\": 9,"
                    + " \"cpuNs\": 3, \"compileNs\": 4, \"latencies\": \"\", \"placedNs\": 5,"
                    + " \"windows\": [{\"bytes\": 1, \"p99Ns\": 2, \"compileNs\": 3}],"
                    + " \"footprint\": {\"placement\": \"host\", \"datagrams\": 1, \"memoryBytes\": 2}}";

    @TestFactory
    Stream<DynamicTest> shouldReadOrRefuse() {
        return FuzzCorpus.of(
                PlanFuzzTest.class,
                Map.of(
                        "scenarios", bytes("latency throughput --rounds 3 --seconds 0.5 --mtu 1500,9000 --quick"),
                        "lists", bytes("sizes --frame-bytes 1M,64k --receivers 1,3 --loss 0,0.01 --offload on,off"),
                        "rivals", bytes("loss --against floor,tcp --transport udp --rate 30 --warm-up 1 --out x"),
                        "report", bytes(REPORT)),
                PlanFuzzTest::fuzzerTestOneInput);
    }

    private static byte[] bytes(final String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    public static void fuzzerTestOneInput(final byte[] input) {
        final String text = new String(input, StandardCharsets.UTF_8);
        requireAllocation(ALLOCATED_MAX, () -> {
            if (text.startsWith("{")) {
                readRecord(ReceiverReport.class, text);
                readRecord(StreamSpec.class, text);
            } else {
                readPlan(text);
            }
        });
    }

    private static <T extends Record> void readRecord(final Class<T> type, final String text) {
        final T record;
        try {
            record = Records.read(type, text);
        } catch (final IllegalArgumentException e) {
            return;
        }
        requireEqual(record, Records.read(type, Records.write(record)));
    }

    // Always on loopback: other networks would be made here.
    private static void readPlan(final String text) {
        final List<String> words = Stream.concat(Stream.of("--net=loopback"), Stream.of(text.split(" ", -1)))
                .limit(WORDS_MAX)
                .filter(word -> !word.startsWith("--net") || word.equals("--net=loopback"))
                .toList();
        try {
            final PlanOptions options = new PlanOptions();
            // Files that a word names by @ are the user's own.
            Options.check(Options.register(new CommandLine(options))
                    .setExpandAtFiles(false)
                    .parseArgs(words.toArray(String[]::new)));
            require(!options.plan().parts().isEmpty(), "something to measure");
        } catch (final ConfigException | ParameterException e) {
            require(!String.valueOf(e.getMessage()).isEmpty(), "a message");
        }
    }
}
