package io.framecast.perf.bench;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// The cases of a run.
///
/// @param skips what was asked for and is not measured, with the reason
/// @param socketBufferBytes of every system alike; 0 for what each gets by itself
public record BenchPlan(
        List<Part> parts, int rounds, BenchTimes times, int socketBufferBytes, List<String> skips, Optional<Path> out) {

    /// A case with its systems, which are measured one after the other in each round.
    public record Part(BenchCase setting, List<BenchSystem> systems) {}

    // Seconds to start a process, with others that start beside it, and for a stream to join and to end.
    private static final double START_SECONDS = 0.2;
    private static final double JOIN_SECONDS = 0.4;
    // Most systems are steady before the time is over.
    private static final double WARM_UP_SHARE = 0.7;

    List<BenchGroup> groups() {
        return BenchGroup.of(parts);
    }

    int measurements() {
        return rounds * parts.stream().mapToInt(part -> part.systems().size()).sum();
    }

    double aboutSeconds() {
        final double starts = groups().stream()
                .mapToDouble(group -> group.systems().size()
                        * (START_SECONDS * (1 + group.receiversMax())
                                + WARM_UP_SHARE * times.warmUpMaxSeconds(group.receiversMax())))
                .sum();
        return starts + measurements() * (JOIN_SECONDS + times.leadSeconds() + times.seconds());
    }
}
