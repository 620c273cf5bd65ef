package io.framecast.perf.chaos;

import io.framecast.api.error.FramecastException;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.perf.harness.Child;
import io.framecast.perf.harness.CountersFile;
import io.framecast.perf.harness.Records;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/// A child, from the run's side.
final class ChaosProcess extends Child {
    private static final long UNKNOWN = -1;
    private static final int LINES_MAX = 20;
    private static final long BASELINE_NS = 4_000_000_000L;
    private static final long LOOK_NS = 300_000_000;
    private static final long LEADS_NS = 1_000_000_000;
    // Heap and threads of a fixed size, so that growth shows; one compiler, for eight processes start and warm
    // up on two cores.
    private static final List<String> FLAGS =
            List.of("-XX:TieredStopAtLevel=1", "-Xms32m", "-Xmx32m", "-XX:+AlwaysPreTouch");

    private final Path counters;
    private final StreamLog log;
    private final List<String> lines;
    private final long startedNs = System.nanoTime();
    private volatile boolean doomed;
    private boolean asked;
    private boolean served;
    private boolean servedAtFirst;
    private long received;
    private long grewNs;
    private boolean leads;
    private boolean ledAtFirst;
    private long lookedNs;

    /// @param prefix the command that runs the process on its host
    ChaosProcess(final String name, final List<String> prefix, final ChaosSettings settings) {
        this(
                name,
                start(prefix, FLAGS, ChaosRole.class, List.of(Records.write(settings))),
                settings.counters(),
                new StreamLog(),
                Collections.synchronizedList(new ArrayList<>()));
    }

    private ChaosProcess(
            final String name,
            final Process process,
            final Path counters,
            final StreamLog log,
            final List<String> lines) {
        super(name, process, line -> note(lines, line), line -> log.onLine(line.kind(), line.text()), _ -> {});
        this.counters = counters;
        this.log = log;
        this.lines = lines;
    }

    private static void note(final List<String> lines, final String line) {
        if (lines.size() < LINES_MAX) {
            lines.add(line);
        }
    }

    /// The first lines that are no events.
    List<String> lines() {
        return List.copyOf(lines);
    }

    StreamLog log() {
        return log;
    }

    /// From now on its end is expected.
    void doom() {
        doomed = true;
    }

    boolean isDoomed() {
        return doomed;
    }

    /// Why it ended, for a message.
    String lastWords() {
        return log.over().orElse("it said nothing");
    }

    /// The sum over all labels of one of its counters; −1 when they cannot be read.
    long counter(final EngineCounter counter) {
        if (!Files.exists(counters)) {
            return UNKNOWN;
        }
        try (CounterReader reader = CounterReader.open(counters)) {
            return reader.pid() == pid() ? CountersFile.values(reader, counter).sum() : UNKNOWN;
        } catch (final FramecastException e) {
            // The file is just being made.
            return UNKNOWN;
        }
    }

    long startedNs() {
        return startedNs;
    }

    /// Whether it has had frames for some time, and nothing has been done to it that ends it.
    boolean hasSettled(final long nowNs, final long forNs) {
        final long joinedNs = log.joinedNs();
        return !doomed && isAlive() && joinedNs != StreamLog.NONE && nowNs - joinedNs >= forNs;
    }

    boolean isCoRoot() {
        return counter(EngineCounter.SERVED_MEMBERS) > 0;
    }

    /// Whether it became a co-root only after its memory was first asked for: then it holds a copy of the
    /// window more.
    boolean hasBegunToServe() {
        return served && !servedAtFirst;
    }

    /// Whether it receives the stream from the network, for others too where its host is a group.
    boolean leads() {
        return leads;
    }

    /// Whether it began to lead only after its memory was first asked for: then it holds a ring and sockets more.
    boolean hasBegunToLead() {
        return leads && !ledAtFirst;
    }

    /// Looks whether it leads and serves, and asks for its memory once it has settled.
    void tick(final long nowNs) {
        if (nowNs - lookedNs < LOOK_NS || doomed || !isAlive()) {
            return;
        }
        lookedNs = nowNs;
        served |= isCoRoot();
        final long nowReceived = counter(EngineCounter.RECEIVED_DATAGRAMS);
        // While little comes, counters are written less often than this looks.
        grewNs = nowReceived > received ? nowNs : grewNs;
        leads = grewNs != 0 && nowNs - grewNs < LEADS_NS;
        received = Math.max(0, nowReceived);
        if (!asked && hasSettled(nowNs, BASELINE_NS)) {
            asked = true;
            servedAtFirst = served;
            ledAtFirst = leads;
            order(ChaosRole.MEMORY);
        }
    }

    /// Ends it now, also when it is stopped.
    @Override
    public void close() {
        super.close();
        try {
            Files.deleteIfExists(counters);
        } catch (final IOException e) {
            note(lines, "its counters file stays behind: " + e.getMessage());
        }
    }
}
