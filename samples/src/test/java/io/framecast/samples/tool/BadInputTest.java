package io.framecast.samples.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.samples.ExitStatus;
import io.framecast.samples.demo.DemoCommand;
import io.framecast.samples.json.Json;
import io.framecast.samples.publish.PublishCommand;
import io.framecast.samples.simulate.SimulateCommand;
import io.framecast.samples.subscribe.SubscribeCommand;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine.Command;

/// Every error on the command line or around it gives one clear line, the same in JSON, and exit 2.
final class BadInputTest {
    private static final String URI = ToolFixture.URI;

    private final ToolFixture tool = new ToolFixture();

    @TempDir
    private Path directory;

    static Stream<Arguments> badCommands() {
        return Stream.of(
                bad("expected a command"),
                bad("unknown command 'paint'", "paint"),
                bad("unknown command 'pubish'; nearest is publish; see framecast --help", "pubish"),
                bad("unknown command 'hlep'; nearest is help; see", "hlep"),
                bad("unknown option '--los'; nearest is --loss", "demo", "--los", "0.1"),
                bad("'fast' is not a number", "demo", "--rate", "fast"),
                bad("'x' is not a whole number", "demo", "--seed", "x"),
                bad("COMMAND: expected one of [demo, publish, subscribe, simulate", "help", "paint"),
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
                bad("--device: no provider of gpu is on the class path", "demo", "--device", "gpu"),
                bad("nearest is cuda; expected one of [auto, cuda, emulated, host]", "demo", "--device", "cudda:0"),
                bad("--device: expected auto", "demo", "--device", "gpu:x"),
                bad(
                        "--transport: no provider of upd is on the class path, nearest is udp",
                        "demo",
                        "--transport",
                        "upd"),
                bad("--interface: expected a name or an address, got lo|ttl=9", "demo", "--interface", "lo|ttl=9"),
                bad(
                        "--frame-bytes: expected a number of bytes, such as 6220800, 64k, 16m or 1g, got 64q",
                        "demo",
                        "--frame-bytes",
                        "64q"),
                bad("no such file", "demo", "--input", "/nonexistent/clip.raw"),
                bad("it is a directory".substring(6), "demo", "--input", "/"),
                bad("expected ffmpeg's arguments", "demo", "--input", "ffmpeg:clip.mp4"),
                bad("--metrics-port", "demo", "--metrics-port", "65534"),
                bad("--metrics-port: expected 0 … 65535, got 70000", "demo", "--metrics-port", "70000"),
                bad(
                        "--metrics-port: expected 0 … 65535, got -1",
                        "publish",
                        URI,
                        "--input",
                        "test",
                        "--metrics-port",
                        "-1"),
                bad(
                        "ring: expected at least 6000 bytes for frames of 2000, got 5999",
                        "publish",
                        URI + "|ring=5999",
                        "--input",
                        "test",
                        "--frame-bytes",
                        "2000"),
                bad("ring: expected 0 for the smallest that works", "subscribe", URI + "|ring=1k"),
                bad("ring: expected 0 for the smallest that works", "serve", URI + "|ring=1k"));
    }

    static Stream<Arguments> badStreamCommands() {
        return Stream.of(
                bad("Missing required", "publish", "--input", "test"),
                bad("--input", "publish", URI),
                bad("expected framecast:", "publish", "udp://x", "--input", "test"),
                bad("unknown key grup; nearest is group", "publish", "framecast:udp?grup=1", "--input", "test"),
                bad("window: expected a number of bytes", "publish", URI + "|window=x", "--input", "test"),
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
                        "0.05",
                        "--wait-subscribers",
                        "2"),
                bad("unknown key", "subscribe", "framecast:udp?colour=1"),
                bad("--frames", "subscribe", URI, "--frames", "0"),
                bad("--device: expected cuda:N, got cuda", "subscribe", URI, "--device", "cuda"),
                bad(
                        "--delivery: expected reliable, latest, deadline=T or evict=T",
                        "subscribe",
                        URI,
                        "--delivery",
                        "40ms"),
                bad("--rejoin: expected a time such as 10s", "subscribe", URI, "--rejoin", "10"),
                bad("--rejoin: expected a time such as 10s", "publish", URI, "--input", "test", "--rejoin", "soon"),
                bad("--sources: expected 1 … 64, got 65", "subscribe", URI, "--sources", "65"),
                bad("--join: expected frame or keyframe", "subscribe", URI, "--join", "now"),
                bad("delivery: expected reliable, latest, deadline=T", "subscribe", URI + "|delivery=evict"),
                bad("no such file or directory", "subscribe", URI, "--out", "/nonexistent/out"),
                bad("is a directory", "subscribe", URI, "--out", "/"),
                bad("--out: expected FILE or -, got nothing", "subscribe", URI, "--out="),
                bad("only one of them can have stdout", "subscribe", URI, "--out", "-"),
                bad("unknown worker paint; known are []", "subscribe", URI, "--worker", "paint"),
                bad("no source was heard", "subscribe", URI, "--wait-timeout", "0.01"));
    }

    private static Arguments bad(final String part, final String... command) {
        return Arguments.of(part, List.of(command));
    }

    @ParameterizedTest
    @MethodSource({"badCommands", "badStreamCommands"})
    void shouldSayWhatIsWrongInOneLine(final String part, final List<String> command) {
        final List<String> arguments = new ArrayList<>(command);
        arguments.addAll(List.of("--json", "-"));
        tool.run(arguments.toArray(String[]::new)).assertFailed(ExitStatus.USAGE, part);
        assertTrue(((ToolFixture.ThreadLauncher) tool.children).launched.isEmpty(), "no process was started");
    }

    @AfterEach
    void endAll() throws InterruptedException {
        tool.endAll();
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
    void shouldSayOnlyOnceThatTheJsonFileCannotBeWritten() {
        final var missing = tool.run("publish", URI, "--input", "test", "--json", "/nonexistent/result.json");
        assertEquals(1, missing.err().lines().count(), missing.err());
        final var nothing = tool.run("publish", URI, "--input", "test", "--json=");
        assertEquals(ExitStatus.USAGE, nothing.status());
        assertEquals(
                "framecast: --json: expected FILE or -, got nothing",
                nothing.err().strip());
    }

    @Test
    void shouldRefuseOneFileForTwoThings() throws Exception {
        final Path file = Files.writeString(directory.resolve("f"), "content");
        final String other = directory.resolve(".").resolve("f").toString();
        for (final List<String> command : List.of(
                List.of("subscribe", URI, "--out", other),
                List.of("publish", URI, "--input", other),
                List.of("demo", "--input", other))) {
            final List<String> arguments = new ArrayList<>(command);
            arguments.addAll(List.of("--json", file.toString()));
            Files.writeString(file, "content");
            final var run = tool.run(arguments.toArray(String[]::new));
            assertEquals(ExitStatus.USAGE, run.status(), run.err());
            assertTrue(run.err().contains("and --json: expected two files"), run.err());
        }
    }

    @Test
    void shouldSayThatStdinIsClosed() throws Exception {
        tool.in = InputStream.nullInputStream();
        tool.in.close();
        for (final List<String> command :
                List.of(List.of("publish", URI, "--input", "-"), List.of("demo", "--input", "-"))) {
            final List<String> arguments = new ArrayList<>(command);
            arguments.addAll(List.of("--json", "-"));
            tool.run(arguments.toArray(String[]::new)).assertFailed(ExitStatus.USAGE, "stdin is closed");
        }
    }

    @Test
    void shouldRefuseADeviceThatIsNotThereBeforeAnyProcessIsStarted() {
        for (final String device : List.of("cuda:77", "emulated:999")) {
            tool.run("demo", "--device", device, "--json", "-")
                    .assertFailed(ExitStatus.USAGE, "device=auto, which takes a device that works");
            assertTrue(((ToolFixture.ThreadLauncher) tool.children).launched.isEmpty(), "no process was started");
        }
    }

    @Test
    void shouldShowTheSameHelpByHelpCommand() {
        for (final String command : List.of("demo", "publish", "subscribe", "simulate")) {
            final var help = tool.run("help", command);
            assertEquals(ExitStatus.DONE, help.status());
            assertEquals(tool.run(command, "--help").outText(), help.outText());
            assertTrue(help.outText().contains("Usage: framecast " + command), help.outText());
        }
        assertEquals(tool.run("--help").outText(), tool.run("help").outText());
    }

    @Test
    void shouldNotWrapExamples() {
        for (final String command : List.of("demo", "publish", "subscribe", "simulate")) {
            final String help = tool.run(command, "--help").outText();
            for (final String line : exampleLines(command)) {
                assertTrue(help.lines().anyMatch(line::equals), () -> line + " is wrapped in " + help);
            }
        }
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

    private static String[] exampleLines(final String command) {
        final Class<?> type = switch (command) {
            case "demo" -> DemoCommand.class;
            case "publish" -> PublishCommand.class;
            case "subscribe" -> SubscribeCommand.class;
            default -> SimulateCommand.class;
        };
        return type.getAnnotation(Command.class).footer();
    }
}
