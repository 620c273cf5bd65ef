package io.framecast.samples.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.api.error.ConfigException;
import io.framecast.api.format.PixelFormat;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class FfmpegInputTest {
    private static final String PATH = Objects.requireNonNullElse(System.getenv("PATH"), "");
    private static final VideoFormat SMALL = VideoFormat.parse("64x48xrgb24");

    @TempDir
    private Path directory;

    private static void assumeFfmpeg() {
        final boolean found =
                Arrays.stream(PATH.split(":")).anyMatch(entry -> Files.isExecutable(Path.of(entry, "ffmpeg")));
        assumeTrue(found, "no ffmpeg on the PATH");
    }

    private static long countFrames(final String arguments, final VideoFormat video) throws IOException {
        long frames = 0;
        try (FfmpegInput input = FfmpegInput.open("ffmpeg", PATH, arguments, video);
                Arena arena = Arena.ofConfined()) {
            final MemorySegment target = arena.allocate(video.frameBytes());
            while (input.nextBytes() > 0 && input.read(target) > 0) {
                frames++;
            }
        }
        return frames;
    }

    private FfmpegInput script(final String body) throws IOException {
        final Path script = Files.writeString(directory.resolve("ffmpeg"), "#!/bin/sh\n" + body + "\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
        return FfmpegInput.open(script.toString(), "", "-i x", SMALL);
    }

    @Test
    void shouldSplitWordsAsAShellDoes() {
        assertEquals(List.of("-i", "my file.mp4"), CommandWords.split("-i 'my file.mp4'"));
        assertEquals(List.of("a\"b", "c\\d", "e\\n"), CommandWords.split("\"a\\\"b\" 'c\\d' \"e\\n\""));
        assertEquals(List.of("a b", "", "cd"), CommandWords.split("a\\ b  ''\tc'd' "));
        assertEquals(List.of(), CommandWords.split("  "));
    }

    @ParameterizedTest
    @ValueSource(strings = {"-i 'x", "-i \"x", "-i x\\", "\"a\\"})
    void shouldRefuseAnOpenQuote(final String line) {
        assertThrows(ConfigException.class, () -> CommandWords.split(line));
    }

    @Test
    void shouldAddRawOutputBehindTheUsersArguments() {
        assertEquals(
                List.of("ffmpeg -hide_banner -loglevel error -nostdin -f lavfi -i testsrc2=size=640x480:rate=30 -t 2"
                                + " -f rawvideo -pix_fmt rgb24 -s 64x48 -")
                        .getFirst(),
                String.join(
                        " ", FfmpegInput.command("ffmpeg", "-f lavfi -i testsrc2=size=640x480:rate=30 -t 2", SMALL)));
        assertFalse(FfmpegInput.command("ffmpeg", "-f mpegts -i -", SMALL).contains("-nostdin"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "clip.mp4", "-i clip.mp4 -", "-i clip.mp4 pipe:1"})
    void shouldRefuseArgumentsThatCannotWork(final String arguments) {
        assertThrows(ConfigException.class, () -> FfmpegInput.command("ffmpeg", arguments, SMALL));
    }

    @Test
    void shouldSayHowToInstallWhenFfmpegIsMissing() {
        final ConfigException e = assertThrows(
                ConfigException.class, () -> FfmpegInput.open("ffmpeg", directory.toString(), "-i x", SMALL));
        assertTrue(e.getMessage().contains("no ffmpeg found on the PATH"), e.getMessage());
    }

    @Test
    void shouldReadEveryFrameOfTheRequestedSize() throws IOException {
        assumeFfmpeg();
        // The source is larger than what is asked for: ffmpeg scales.
        assertEquals(15, countFrames("-f lavfi -i testsrc2=size=160x120:rate=30 -t 0.5", SMALL));
    }

    @ParameterizedTest
    @EnumSource(PixelFormat.class)
    void shouldKnowTheLengthOfFfmpegsFrames(final PixelFormat format) throws IOException {
        assumeFfmpeg();
        assertEquals(
                3, countFrames("-f lavfi -i testsrc2=size=64x48:rate=30 -frames:v 3", new VideoFormat(37, 19, format)));
    }

    @Test
    void shouldPassOnTheLastLineWhenFfmpegFails() {
        assumeFfmpeg();
        final ConfigException e =
                assertThrows(ConfigException.class, () -> countFrames("-i /nonexistent/clip.mp4", SMALL));
        assertTrue(e.getMessage().contains("/nonexistent/clip.mp4: No such file or directory"), e.getMessage());
    }

    @Test
    void shouldComplainWhenOutputEndsWithinAFrame() throws IOException {
        try (FfmpegInput input = script("head -c 10000 /dev/zero");
                Arena arena = Arena.ofConfined()) {
            final MemorySegment target = arena.allocate(SMALL.frameBytes());
            assertEquals(9_216, input.read(target));
            final ConfigException e = assertThrows(ConfigException.class, () -> input.read(target));
            assertTrue(e.getMessage().contains("784 of 9216"), e.getMessage());
        }
    }

    @Test
    void shouldFailAfterGoodFramesWhenTheStatusIsBad() throws IOException {
        try (FfmpegInput input = script("head -c 9216 /dev/zero; echo first >&2; echo device lost >&2; exit 3");
                Arena arena = Arena.ofConfined()) {
            final MemorySegment target = arena.allocate(SMALL.frameBytes());
            assertEquals(9_216, input.read(target));
            final ConfigException e = assertThrows(ConfigException.class, () -> input.read(target));
            assertEquals("ffmpeg ended with status 3: device lost", e.getMessage());
        }
    }

    @Test
    void shouldEndAWaitingReadWhenCancelled() throws Exception {
        try (FfmpegInput input = script("exec sleep 600");
                Arena arena = Arena.ofShared()) {
            final MemorySegment target = arena.allocate(SMALL.frameBytes());
            final Thread canceller = Thread.ofPlatform().start(input::cancel);
            assertEquals(0, input.read(target));
            canceller.join();
            assertEquals(0, input.nextBytes());
        }
    }
}
