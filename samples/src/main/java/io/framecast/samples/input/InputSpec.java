package io.framecast.samples.input;

import io.framecast.api.error.ConfigException;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Objects;

/// `--input`, parsed.
public sealed interface InputSpec {
    /// Seeded pattern without end.
    record Test() implements InputSpec {}

    record File(Path path) implements InputSpec {}

    record Stdin() implements InputSpec {}

    record Ffmpeg(String arguments) implements InputSpec {}

    static InputSpec parse(final String text) {
        if (text.isEmpty()) {
            throw new ConfigException("--input: expected test, FILE, - or ffmpeg:ARGS, got nothing");
        }
        if (text.startsWith("ffmpeg:")) {
            return new Ffmpeg(text.substring("ffmpeg:".length()));
        }
        return switch (text) {
            case "test" -> new Test();
            case "-" -> new Stdin();
            default -> new File(path(text));
        };
    }

    private static Path path(final String text) {
        try {
            return Path.of(text);
        } catch (final InvalidPathException e) {
            throw new ConfigException("--input: expected the path of a file, got " + e.getMessage(), e);
        }
    }

    /// Nothing is taken from it.
    ///
    /// @throws ConfigException when it is closed
    static void requireOpen(final InputStream stdin) {
        try {
            stdin.available();
        } catch (final IOException e) {
            throw new ConfigException("--input -: stdin is closed; pipe something into it, or name a file", e);
        }
    }

    // A file that the shell opened has a size; pipes and terminals have none.
    private static ByteInput.Length length(final InputStream stdin) {
        try {
            return stdin instanceof FileInputStream file && file.getChannel().size() > 0
                    ? ByteInput.Length.FINITE
                    : ByteInput.Length.LIVE;
        } catch (final IOException e) {
            return ByteInput.Length.LIVE;
        }
    }

    /// Opens the input. Nothing is read yet.
    ///
    /// @param frame how the input is cut
    /// @param seed of the test pattern
    /// @param stdin the stream that `-` stands for
    /// @throws ConfigException in one line, when the input is missing or cannot be read
    default FrameInput open(final FrameShape frame, final long seed, final InputStream stdin) {
        return switch (this) {
            case Test() -> new TestInput(seed, frame.bytes());
            case File(Path path) -> ByteInput.ofFile(path, frame.bytes());
            case Stdin() -> {
                requireOpen(stdin);
                yield ByteInput.ofPipe("stdin", Channels.newChannel(stdin), frame.bytes(), length(stdin));
            }
            case Ffmpeg(String arguments) ->
                FfmpegInput.open(
                        "ffmpeg", Objects.requireNonNullElse(System.getenv("PATH"), ""), arguments, frame.video());
        };
    }
}
