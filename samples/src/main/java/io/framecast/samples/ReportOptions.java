package io.framecast.samples;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// `--json`, for picocli to know; [Report] reads it from the raw arguments, as it must also report wrong ones.
final class ReportOptions {
    @Option(
            names = "--json",
            paramLabel = "FILE|-",
            description = "Write the result, or {\"error\", \"exit\"}, as one JSON object to FILE or stdout.")
    private @Nullable String json;

    @Override
    public String toString() {
        return "--json " + json;
    }
}
