package io.framecast.samples;

import io.framecast.api.error.ConfigException;
import io.framecast.samples.json.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.OptionSpec;

/// Writes a command's result: one JSON object to stdout (`--json -`) or to a file, or text for people.
///
/// The target is found in the raw arguments, before they are parsed, because wrong arguments are reported
/// there too.
public final class Report implements ToolContext {

    private static final String OPTION = "--json";
    private static final String STDOUT = "-";

    private final @Nullable String target;
    private final OutputStream out;
    private final Console console;
    private final Stop stop;
    private Map<String, Object> kept = Map.of();
    private boolean written;

    private Report(final @Nullable String target, final Environment environment) {
        this.target = target;
        out = environment.out();
        console = environment.console();
        stop = environment.stop();
    }

    public static Report of(final String[] arguments, final Environment environment) {
        @Nullable String target = null;
        for (int i = 0; i < arguments.length; i++) {
            if (arguments[i].equals(OPTION) && i + 1 < arguments.length) {
                target = arguments[i + 1];
            } else if (arguments[i].startsWith(OPTION + "=")) {
                target = arguments[i].substring(OPTION.length() + 1);
            }
        }
        return new Report(target, environment);
    }

    /// The option as picocli is to know it.
    public static OptionSpec option() {
        return OptionSpec.builder(OPTION)
                .paramLabel("FILE|-")
                .type(String.class)
                .description("Write the result, or {\"error\", \"exit\"}, as one JSON object to FILE or stdout.")
                .build();
    }

    /// Whether stdout belongs to the JSON object.
    public boolean ownsStdout() {
        return STDOUT.equals(target);
    }

    @Override
    public boolean hasJson() {
        return target != null;
    }

    @Override
    public void line(final String text) {
        console.line(text);
    }

    @Override
    public void onStop(final Runnable action) {
        stop.onRequest(action);
    }

    @Override
    public boolean isStopped() {
        return stop.isRequested();
    }

    /// The file keeps its content until there is a result.
    @Override
    public void requireWritable() {
        if (target == null || ownsStdout()) {
            return;
        }
        if (target.isEmpty()) {
            throw new ConfigException("--json: expected FILE or -, got nothing");
        }
        try {
            Files.newOutputStream(Path.of(target), StandardOpenOption.CREATE, StandardOpenOption.WRITE)
                    .close();
        } catch (final IOException e) {
            throw new ConfigException("--json: cannot write " + Reasons.of(Path.of(target), e), e);
        }
    }

    @Override
    public void result(final Map<String, Object> json, final String text) {
        result(json, text, false);
    }

    /// As [#result(Map, String)].
    ///
    /// @param stdoutTaken frames went to stdout: text goes to stderr
    public void result(final Map<String, Object> json, final String text, final boolean stdoutTaken) {
        console.clearProgress();
        if (target != null) {
            writeJson(json);
        } else if (stdoutTaken) {
            console.line(text);
        } else {
            writeStdout(text + System.lineSeparator());
        }
    }

    /// Statistics of a run that failed: [#failure] writes them beside the error.
    ///
    /// @param json as the run's result would be
    public void keep(final Map<String, Object> json) {
        kept = json;
    }

    /// Prints a failure: a line on stderr, and `{"error", "exit"}` where JSON was asked for, with the fields so far.
    public void failure(final int status, final String line) {
        console.complain(line);
        if (target == null || target.isEmpty() || written) {
            return;
        }
        final Map<String, Object> json = new LinkedHashMap<>();
        json.put("error", line);
        json.put("exit", status);
        json.putAll(kept);
        try {
            writeJson(json);
        } catch (final ConfigException e) {
            if (!line.equals(e.getMessage())) {
                console.complain(e.getMessage());
            }
        }
    }

    /// Two writers of one file, or a result over the input it was made of, would destroy a file that the user
    /// wanted.
    ///
    /// @param option the option that names the other file
    /// @throws ConfigException when `file` is where the result goes
    public void requireOther(final String option, final Path file) {
        if (target == null || ownsStdout() || target.isEmpty()) {
            return;
        }
        if (isSame(Path.of(target), file)) {
            throw new ConfigException(option + " and --json: expected two files, got " + file + " for both");
        }
    }

    private static boolean isSame(final Path a, final Path b) {
        // /dev/null takes everything.
        if (Files.exists(a) && !Files.isRegularFile(a)) {
            return false;
        }
        try {
            return a.toAbsolutePath().normalize().equals(b.toAbsolutePath().normalize()) || Files.isSameFile(a, b);
        } catch (final IOException e) {
            return false;
        }
    }

    private void writeJson(final Map<String, Object> json) {
        final String text = Json.write(json) + "\n";
        if (ownsStdout()) {
            writeStdout(text);
        } else {
            writeFile(text);
        }
        written = true;
    }

    private void writeFile(final String text) {
        final Path file = Path.of(String.valueOf(target));
        try {
            Files.writeString(file, text);
        } catch (final IOException e) {
            throw new ConfigException("--json: cannot write " + Reasons.of(file, e), e);
        }
    }

    private void writeStdout(final String text) {
        try {
            out.write(text.getBytes(StandardCharsets.UTF_8));
            out.flush();
        } catch (final IOException e) {
            // A reader of part of an object must not get a second one behind it.
            written = true;
            throw new ConfigException("cannot write to stdout: " + e.getMessage(), e);
        }
    }
}
