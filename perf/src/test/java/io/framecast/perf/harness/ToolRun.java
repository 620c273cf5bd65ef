package io.framecast.perf.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Framecast;
import io.framecast.samples.Console;
import io.framecast.samples.Environment;
import io.framecast.samples.Stop;
import io.framecast.samples.json.Json;
import io.framecast.samples.tool.Main;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// One command of the tool, run to its end.
///
/// @param out of stdout
/// @param err of stderr
public record ToolRun(int status, String out, String err) {
    private static final String SEPARATOR = "\t";

    /// Runs a command in this process.
    public static ToolRun of(final String... words) {
        final ByteArrayOutputStream out = new ByteArrayOutputStream();
        final ByteArrayOutputStream err = new ByteArrayOutputStream();
        final Environment environment = new Environment(
                InputStream.nullInputStream(),
                out,
                new Console(new PrintStream(err, true, StandardCharsets.UTF_8), false),
                Framecast::launch,
                (_, _, _) -> {
                    throw new IOException("no process of the demo is started here");
                },
                List::of,
                new Stop());
        final int status = Main.run(environment, words);
        return new ToolRun(status, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    /// Runs commands one after another in a process of its own, whose PATH has no program.
    public static List<ToolRun> withoutPrograms(final List<String> commands) throws IOException, InterruptedException {
        final Path orders = Files.createTempFile("tool", ".in");
        final Path err = Files.createTempFile("tool", ".err");
        try {
            Files.write(orders, commands);
            final ProcessBuilder builder = new ProcessBuilder(
                            Child.javaCommand(List.of("-XX:+UseSerialGC"), ToolRun.class.getName(), List.of()))
                    .redirectInput(orders.toFile())
                    .redirectError(err.toFile());
            builder.environment().put("PATH", "/nowhere");
            final Process process = builder.start();
            final String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(0, process.waitFor(), () -> said);
            final List<ToolRun> runs = said.lines().map(ToolRun::parse).toList();
            assertEquals(commands.size(), runs.size(), () -> said);
            return runs;
        } finally {
            Files.delete(orders);
            Files.delete(err);
        }
    }

    private static ToolRun parse(final String line) {
        final List<?> parts = (List<?>) Json.parse(line);
        return new ToolRun(
                ((Number) parts.get(0)).intValue(), String.valueOf(parts.get(1)), String.valueOf(parts.get(2)));
    }

    /// The process of [#withoutPrograms]: a command per line of stdin, its result per line of stdout.
    static void main() throws IOException {
        final List<ToolRun> runs = new ArrayList<>();
        for (final String line : new String(System.in.readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .toList()) {
            runs.add(of(line.split(line.contains(SEPARATOR) ? SEPARATOR : " ", -1)));
        }
        // In any locale: plain C has no ellipsis.
        final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (final ToolRun run : runs) {
            out.println(Json.write(List.of(run.status, run.out, run.err)));
        }
    }

    /// Stdout as the one JSON object that it must be.
    public Map<?, ?> json() {
        assertEquals(1, out.lines().count(), out + err);
        return (Map<?, ?>) Json.parse(out.strip());
    }

    /// The command was refused in one line, on stderr and in the JSON of `--json -`.
    public void assertRefused(final String part) {
        assertEquals(2, status, () -> "expected " + part + ", got " + err);
        final Map<?, ?> json = json();
        assertEquals(List.of("error", "exit"), List.copyOf(json.keySet()));
        assertEquals(1, err.strip().lines().count(), err);
        assertTrue(err.startsWith("framecast: ") && err.contains(part), () -> "expected " + part + ", got " + err);
        assertEquals("framecast: " + json.get("error"), err.strip());
    }
}
