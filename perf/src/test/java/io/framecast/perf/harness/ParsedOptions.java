package io.framecast.perf.harness;

import io.framecast.api.error.ConfigException;
import io.framecast.samples.options.Options;
import java.util.Objects;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/// Options as the tool reads them.
public final class ParsedOptions {
    private ParsedOptions() {}

    /// Reads words into an object with options.
    ///
    /// @throws ConfigException naming option, expectation and value, where the tool would
    public static <T> T of(final T options, final String... words) {
        try {
            Options.check(Options.register(new CommandLine(options)).parseArgs(words));
            return options;
        } catch (final ParameterException e) {
            throw new ConfigException(
                    Objects.requireNonNullElse(Options.complaint(e), String.valueOf(e.getMessage())), e);
        }
    }
}
