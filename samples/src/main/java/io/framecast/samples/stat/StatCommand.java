package io.framecast.samples.stat;

import io.framecast.api.error.ConfigException;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.samples.ExitStatus;
import io.framecast.samples.ToolContext;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `framecast stat`.
@Command(
        name = "stat",
        description = "Shows what running publishers and subscribers do, a line for each stream and for each subscriber"
                + " of a publisher. They do not notice it. For Prometheus see --metrics-port of publish,"
                + " subscribe and serve.",
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  framecast stat",
            "  framecast stat 4711 --every 1",
            "  framecast stat --counters",
            "  framecast stat --json - --every 5"
        })
public final class StatCommand implements Callable<Integer> {
    private static final long NS_PER_S = 1_000_000_000L;
    private static final double EVERY_MAX_S = 86_400;

    private final ToolContext context;
    private final Supplier<List<Path>> running;
    private final CountDownLatch stopped = new CountDownLatch(1);

    @Parameters(
            paramLabel = "PID|FILE",
            description = "Processes, or their counters files; default: all that run here and are this user's.")
    private List<String> chosen = new ArrayList<>();

    @Option(
            names = "--every",
            paramLabel = "S",
            description = "Show again every S seconds, with counts per second; with --json once, after S.")
    private @Nullable Double everyS;

    @Option(names = "--counters", description = "Every counter that is not 0, instead of a line for each stream.")
    private boolean counters;

    @Option(names = "--all", description = "Every counter, also counters of 0.")
    private boolean all;

    public StatCommand(final ToolContext context) {
        this(context, CounterReader::running);
    }

    StatCommand(final ToolContext context, final Supplier<List<Path>> running) {
        this.context = context;
        this.running = running;
    }

    @Override
    public Integer call() throws InterruptedException {
        final Double every = everyS;
        if (every != null && !(every > 0 && every <= EVERY_MAX_S)) {
            throw new ConfigException("--every: expected seconds above 0, at most " + (long) EVERY_MAX_S + ", got "
                    + every + "; without --every they are shown once");
        }
        context.requireWritable();
        context.onStop(stopped::countDown);
        Map<Path, ProcessCounters> before = look();
        if (every == null) {
            show(before, Map.of());
            return ExitStatus.DONE;
        }
        do {
            if (stopped.await((long) (every * NS_PER_S), TimeUnit.NANOSECONDS)) {
                return ExitStatus.DONE;
            }
            final Map<Path, ProcessCounters> now = look();
            show(now, before);
            before = now;
        } while (!context.hasJson());
        return ExitStatus.DONE;
    }

    private Map<Path, ProcessCounters> look() {
        final Map<Path, ProcessCounters> found = new LinkedHashMap<>();
        for (final Path file : files()) {
            try {
                found.put(file, ProcessCounters.of(file));
            } catch (final ConfigException e) {
                // It may have ended just now; one that was asked for by name is missed.
                if (!chosen.isEmpty()) {
                    throw e;
                }
            }
        }
        if (found.isEmpty()) {
            throw new ConfigException("no process of framecast runs here as this user: start one, or name the counters"
                    + " file of one that was given another place for it");
        }
        return found;
    }

    private List<Path> files() {
        if (chosen.isEmpty()) {
            return running.get();
        }
        final List<Path> files = new ArrayList<>();
        for (final String one : chosen) {
            if (!one.matches("\\d+")) {
                files.add(Path.of(one));
                continue;
            }
            final List<Path> ofProcess = running.get().stream()
                    .filter(file -> String.valueOf(file.getFileName()).matches(one + "(-\\d+)?\\..*"))
                    .toList();
            if (ofProcess.isEmpty()) {
                throw new ConfigException("process " + one + " has no counters here: see that it runs, as this user");
            }
            files.addAll(ofProcess);
        }
        return files;
    }

    private void show(final Map<Path, ProcessCounters> now, final Map<Path, ProcessCounters> before) {
        final List<Map<String, Object>> processes = new ArrayList<>();
        now.forEach((file, process) -> processes.add(process.json(before.get(file), all)));
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("processes", processes);
        context.result(
                json,
                now.entrySet().stream()
                        .map(one -> text(one.getValue(), before.get(one.getKey())))
                        .collect(Collectors.joining(System.lineSeparator())));
    }

    private String text(final ProcessCounters process, final @Nullable ProcessCounters earlier) {
        return counters || all ? process.text(earlier, all) : new StreamLines(process, earlier).text();
    }
}
