package io.framecast.perf.bench;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// What a run does.
///
/// @param skips what was asked for and is not measured, with the reason
/// @param socketBufferBytes of every system alike; 0 for what each gets by itself
public record BenchPlan(
        List<Part> parts,
        int rounds,
        double warmUpSeconds,
        double seconds,
        int socketBufferBytes,
        List<String> skips,
        Optional<Path> out) {

    /// A case with its systems, which are measured one after the other in each round.
    public record Part(BenchCase setting, List<BenchSystem> systems) {}

    // What starting the processes of one measurement takes, and joining, and ending.
    private static final double START_SECONDS = 1.5;

    int measurements() {
        return rounds * parts.stream().mapToInt(part -> part.systems().size()).sum();
    }

    double aboutSeconds() {
        return measurements() * (START_SECONDS + warmUpSeconds + seconds);
    }
}
