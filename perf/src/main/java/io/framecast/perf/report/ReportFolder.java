package io.framecast.perf.report;

import io.framecast.api.error.ConfigException;
import io.framecast.perf.bench.BenchReport;
import io.framecast.samples.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The folder of `--out`: `bench.json`, `bench.csv`, a PNG and an SVG per plot, `index.html`.
public final class ReportFolder {
    private final Path folder;

    public ReportFolder(final Path folder) {
        this.folder = folder;
    }

    /// Finds out before a long run whether the folder can be made and written to.
    ///
    /// @throws ConfigException naming folder and reason
    public static void requireWritable(final Path folder) {
        try {
            Files.createDirectories(folder);
        } catch (final IOException e) {
            throw new ConfigException("--out: cannot make " + folder + ": a file is in the way, or not permitted", e);
        }
        if (!Files.isWritable(folder)) {
            throw new ConfigException("--out: cannot write to " + folder + ": permission denied");
        }
    }

    /// @return what is to be told about it
    /// @throws IOException when something cannot be written
    public List<String> write(final BenchReport report) throws IOException {
        final List<Figure> figures = Figures.of(report);
        Files.writeString(folder.resolve("bench.json"), Json.write(JsonReport.of(report)) + "\n");
        Files.writeString(folder.resolve("bench.csv"), CsvReport.of(report));
        final List<String> lines = new ArrayList<>(Plots.write(folder, figures));
        Files.writeString(folder.resolve("index.html"), HtmlPage.of(report));
        lines.add("wrote " + folder.resolve("index.html"));
        return lines;
    }
}
