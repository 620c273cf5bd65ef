package io.framecast.perf.table;

import io.framecast.api.error.ConfigException;
import io.framecast.samples.PeerLostException;
import io.framecast.samples.ToolContext;
import io.framecast.samples.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Where the results of a bench go: its table to people, JSON to `--json`, files to the folder of `--out`.
public final class Output {
    /// The tool's exit status when all is well.
    public static final int DONE = 0;

    /// The tool's exit status when frames differ.
    public static final int MISMATCH = 1;

    private final ToolContext context;
    private final @Nullable Path folder;

    /// Finds out before a long run whether everything can be written.
    ///
    /// @param folder null for no files
    /// @throws ConfigException naming file and reason
    public Output(final ToolContext context, final @Nullable Path folder) {
        this.context = context;
        this.folder = folder;
        context.requireWritable();
        if (folder == null) {
            return;
        }
        try {
            Files.createDirectories(folder);
        } catch (final IOException e) {
            throw new ConfigException("--out: cannot make " + folder + ": a file is in the way, or not permitted", e);
        }
        if (!Files.isWritable(folder)) {
            throw new ConfigException("--out: cannot write to " + folder + ": permission denied");
        }
    }

    /// Writes the result, once.
    ///
    /// @param name of the files in the folder
    /// @param head fields of the JSON object before its rows
    /// @param text above the table; empty for none
    // The tool's writer takes null for null.
    @SuppressWarnings("NullAway")
    public <R> void write(
            final String name,
            final Map<String, @Nullable Object> head,
            final Table<R> table,
            final List<R> rows,
            final String text,
            final List<Figure> figures) {
        final Map<String, Object> json = new LinkedHashMap<>(head);
        json.put("rows", table.json(rows));
        file(name + ".json", () -> Json.write(json) + "\n");
        file(name + ".csv", () -> table.csv(rows));
        draw(figures.stream().filter(figure -> !figure.isEmpty()).toList());
        if (folder != null) {
            context.line("wrote " + folder.resolve(name + ".json"));
        }
        final String all = text + table.text(rows);
        if (context.hasJson()) {
            context.line(all);
        }
        context.result(json, all);
    }

    /// The tool's exit status after a run that compares Framecast with rivals. The failure of a rival stands
    /// in its row; the failure of Framecast is the result.
    ///
    /// @param haveDiffered whether frames of Framecast were lost or differ
    /// @param failures of Framecast
    /// @throws PeerLostException when a measurement of Framecast failed
    public int status(final boolean haveDiffered, final List<String> failures) {
        if (haveDiffered) {
            context.line("framecast: mismatch: frames were lost or differ, see the rounds");
            return MISMATCH;
        }
        if (!failures.isEmpty()) {
            throw new PeerLostException(failures.size() + " measurements of Framecast failed: " + failures.getFirst());
        }
        return DONE;
    }

    /// The same after a run with rounds.
    public int statusOf(final boolean haveDiffered, final List<? extends RoundsRow<?>> rows) {
        return status(
                haveDiffered,
                rows.stream()
                        .filter(RoundsRow::isFramecast)
                        .flatMap(row -> row.failures().stream())
                        .toList());
    }

    /// Writes a file to the folder, where there is one.
    public void file(final String name, final Supplier<String> content) {
        if (folder != null) {
            write(folder, name, content.get().getBytes(StandardCharsets.UTF_8));
        }
    }

    private static void write(final Path folder, final String name, final byte[] content) {
        try {
            Files.write(folder.resolve(name), content);
        } catch (final IOException e) {
            throw new ConfigException("--out: cannot write to " + folder + ": " + e.getMessage(), e);
        }
    }

    private void draw(final List<Figure> figures) {
        if (folder == null) {
            return;
        }
        try {
            for (final Figure figure : figures) {
                write(folder, figure.id() + ".svg", Charts.svg(figure));
                write(folder, figure.id() + ".png", Charts.png(figure));
            }
        } catch (final ConfigException e) {
            throw e;
        } catch (final IOException | RuntimeException | LinkageError | InternalError e) {
            context.line("skipped: plots, install fontconfig and a font if they are missing: " + e);
        }
    }
}
