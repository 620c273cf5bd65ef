package io.framecast.perf.bench;

import io.framecast.samples.options.Options;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// How often and for how long systems are measured, and where the results go.
abstract class TimedOptions {
    @Option(names = "--rounds", paramLabel = "N", description = "Rounds, of which the median counts; default 5.")
    private @Nullable Integer rounds;

    @Option(
            names = "--seconds",
            paramLabel = "S",
            description = "How long each measurement lasts; default 2, of start 16.")
    private @Nullable Double seconds;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description = "Write the rows as JSON and CSV, plots, and of scenarios a page index.html.")
    private @Nullable Path out;

    /// The plan before namespaces are tried.
    ///
    /// @throws io.framecast.api.error.ConfigException naming option, expectation and value
    abstract BenchPlan untried();

    /// The plan for this machine.
    ///
    /// @throws io.framecast.api.error.ConfigException naming option, expectation and value
    abstract BenchPlan plan();

    /// @param usual where the user gives none
    final int rounds(final int usual, final int most) {
        return (int) Options.within("--rounds", rounds == null ? usual : rounds, 1, most);
    }

    /// @param usual where the user gives none
    final double seconds(final double usual, final double least, final double most) {
        return Options.within("--seconds", seconds == null ? usual : seconds, least, most);
    }

    final Optional<Path> out() {
        return Optional.ofNullable(out);
    }
}
