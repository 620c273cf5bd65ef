package io.framecast.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.samples.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Whatever is wrong on the command line or around it: one clear line, the same in JSON, exit 2.
final class BadInputTest {
    private static final String URI = ToolFixture.URI;

    private final ToolFixture tool = new ToolFixture();

    @TempDir
    private Path directory;

    static Stream<Arguments> badCommands() {
        return Stream.of(
                bad("expected a command"),
                bad("'paint'", "paint"),
                bad("--no-such", "demo", "--no-such"),
                bad("'ten' is not", "demo", "--seconds", "ten"),
                bad("--seconds", "demo", "--seconds", "0"),
                bad("--seconds", "demo", "--seconds", "NaN"),
                bad("--subscribers: expected 1", "demo", "--subscribers", "0"),
                bad("--subscribers", "demo", "--subscribers", "1000"),
                bad("--frame-bytes: expected 1", "demo", "--frame-bytes", "0"),
                bad("--frame-bytes: expected a number", "demo", "--frame-bytes", "-5"),
                bad("--frame-bytes and --video", "demo", "--frame-bytes", "5", "--video", "4x4xgray"),
                bad("--video: unknown pixel format", "demo", "--video", "4x4xgrey"),
                bad("--loss: expected 0 <= P < 1, got 2.0", "demo", "--loss", "2"),
                bad("--loss", "demo", "--loss", "-0.1"),
                bad("--rate: expected 0", "demo", "--rate", "-1"),
                bad("--device: expected auto", "demo", "--device", "gpu"),
                bad("transport: expected one of", "demo", "--transport", "upd"),
                bad("no such file", "demo", "--input", "/nonexistent/clip.raw"),
                bad("it is a directory".substring(6), "demo", "--input", "/"),
                bad("expected ffmpeg's arguments", "demo", "--input", "ffmpeg:clip.mp4"),
                bad("--metrics-port", "demo", "--metrics-port", "65534"),
                bad("--metrics port: expected".replace("--", ""), "demo", "--metrics-port", "70000"),
                bad("Missing required", "publish", "--input", "test"),
                bad("--input", "publish", URI),
                bad("expected framecast:", "publish", "udp://x", "--input", "test"),
                bad("unknown key grup; nearest is group", "publish", "framecast:udp?grup=1", "--input", "test"),
                bad("window: expected a number, got x", "publish", URI + "|window=x", "--input", "test"),
                bad("no such file", "publish", URI, "--input", "/nonexistent/clip.raw"),
                bad("--frames: expected at least 1", "publish", URI, "--input", "test", "--frames", "0"),
                bad("--wait-subscribers", "publish", URI, "--input", "test", "--wait-subscribers", "0"),
                bad("--linger: expected seconds", "publish", URI, "--input", "test", "--linger", "-1"),
                bad(
                        "no subscribers: 0 of 2 ready",
                        "publish",
                        URI,
                        "--input",
                        "test",
                        "--wait-timeout",
                        "0",
                        "--wait-subscribers",
                        "2"),
                bad("unknown key", "subscribe", "framecast:udp?colour=1"),
                bad("--frames", "subscribe", URI, "--frames", "0"),
                bad("--device: expected", "subscribe", URI, "--device", "cuda"),
                bad("no such file or directory", "subscribe", URI, "--out", "/nonexistent/out"),
                bad("is a directory", "subscribe", URI, "--out", "/"),
                bad("only one of them can have stdout", "subscribe", URI, "--out", "-"),
                bad("unknown worker paint; known are []", "subscribe", URI, "--worker", "paint"),
                bad("no source was heard", "subscribe", URI, "--wait-timeout", "0.01"));
    }

    private static Arguments bad(final String part, final String... command) {
        return Arguments.of(part, List.of(command));
    }

    @ParameterizedTest
    @MethodSource("badCommands")
    void shouldSayWhatIsWrongInOneLine(final String part, final List<String> command) {
        final List<String> arguments = new ArrayList<>(command);
        arguments.addAll(List.of("--json", "-"));
        tool.run(arguments.toArray(String[]::new)).assertFailed(ExitStatus.USAGE, part);
        assertTrue(((ToolFixture.ThreadLauncher) tool.children).launched.isEmpty(), "no process was started");
    }

    @Test
    void shouldPassOnWhatTheEngineRefuses() {
        tool.network.refusal = "port 24326: in use by another process; choose another in group=";
        tool.run("publish", URI, "--input", "test", "--json", "-").assertFailed(ExitStatus.USAGE, "port 24326: in use");
    }

    @Test
    void shouldWriteTheErrorToTheJsonFileToo() throws Exception {
        final Path file = directory.resolve("result.json");
        final var run = tool.run("publish", URI, "--input", "/nonexistent", "--json", file.toString());
        assertEquals(ExitStatus.USAGE, run.status());
        assertEquals("", run.outText());
        assertEquals(
                Map.of("error", "cannot read /nonexistent: no such file", "exit", 2L),
                Json.parse(Files.readString(file)));
    }

    @Test
    void shouldSayThatTheJsonFileCannotBeWrittenBeforeAnythingRuns() {
        final var run = tool.run("demo", "--json", "/nonexistent/result.json");
        assertEquals(ExitStatus.USAGE, run.status());
        assertTrue(run.err().contains("--json: cannot write /nonexistent/result.json: no such file"), run.err());
    }

    @Test
    void shouldShowHelpWithExamplesAndVersion() {
        for (final String command : List.of("demo", "publish", "subscribe")) {
            final var help = tool.run(command, "--help");
            assertEquals(ExitStatus.DONE, help.status());
            assertTrue(help.outText().contains("Examples:"), help.outText());
            assertTrue(!help.outText().contains("--parent") && !help.outText().contains("--child"), help.outText());
        }
        assertTrue(tool.run("--help").outText().contains("Exit status: 0 done and verified"));
        final var version = tool.run("--version");
        assertEquals(ExitStatus.DONE, version.status());
        assertTrue(version.outText().startsWith("framecast "), version.outText());
    }

    @Test
    void shouldReportAnInternalErrorWithoutAStackTrace() {
        final var broken = new ToolFixture();
        broken.workers = null;
        broken.run("subscribe", URI, "--worker", "x", "--json", "-").status();
        final var run = broken.run("subscribe", URI, "--worker", "x", "--json", "-");
        assertEquals(ExitStatus.USAGE, run.status());
        assertTrue(run.err().startsWith("framecast: internal error: java.lang.NullPointerException"), run.err());
        assertEquals(1, run.err().lines().count());
    }
}
