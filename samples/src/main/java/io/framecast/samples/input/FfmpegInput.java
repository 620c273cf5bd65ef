package io.framecast.samples.input;

import io.framecast.api.error.ConfigException;
import java.io.File;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// `--input ffmpeg:ARGS`: raw frames from the user's own ffmpeg, which decodes, captures or generates them.
/// It is looked for at once, but started with the first read: a camera must not fill its buffers while subscribers
/// join.
final class FfmpegInput implements FrameInput {
    private final List<String> command;
    private final VideoFormat video;
    private final boolean finite;
    private volatile @Nullable Process process;
    private volatile boolean cancelled;
    private volatile String lastComplaint = "";
    private @Nullable Thread complaints;
    private @Nullable ByteInput frames;
    private boolean ended;
    private boolean whole;

    private FfmpegInput(final List<String> command, final VideoFormat video) {
        this.command = command;
        this.video = video;
        this.finite = readsFile(command);
    }

    // A camera, a network stream and a generator go on until they are stopped; so does a file that is repeated.
    private static boolean readsFile(final List<String> command) {
        boolean file = false;
        for (int i = 0; i + 1 < command.size(); i++) {
            if (command.get(i).equals("-stream_loop") && command.get(i + 1).equals("-1")) {
                return false;
            }
            file |= command.get(i).equals("-i") && Files.isRegularFile(Path.of(command.get(i + 1)));
        }
        return file;
    }

    /// @param executable `ffmpeg`, to be found on `searchPath`, or a path
    /// @param searchPath directories as in PATH
    /// @throws ConfigException when ffmpeg is not there or the arguments cannot work
    static FfmpegInput open(
            final String executable, final String searchPath, final String arguments, final VideoFormat video) {
        final List<String> command = command(executable, arguments, video);
        if (!isExecutable(executable, searchPath)) {
            throw new ConfigException("--input ffmpeg: no " + executable
                    + " found on the PATH: install it (Debian, Ubuntu: apt install ffmpeg)");
        }
        return new FfmpegInput(command, video);
    }

    /// The command line: the user's arguments, then output as raw frames of the wanted size on stdout. `-s` scales
    /// where the source has another size, and does nothing where it has not.
    static List<String> command(final String executable, final String arguments, final VideoFormat video) {
        final List<String> words = CommandWords.split(arguments);
        if (!words.contains("-i")) {
            throw new ConfigException("--input ffmpeg: expected ffmpeg's arguments with an input, such as"
                    + " \"ffmpeg:-i FILE\" or \"ffmpeg:-f v4l2 -i /dev/video0\", got \"" + arguments + "\"");
        }
        final String last = words.getLast();
        final boolean pipe = last.equals("-") && !words.get(words.size() - 2).equals("-i");
        if (pipe || last.matches("pipe:1?")) {
            throw new ConfigException("--input ffmpeg: leave the output " + last + " out, framecast adds its own");
        }
        final List<String> command = new ArrayList<>(List.of(executable, "-hide_banner", "-loglevel", "error"));
        if (!words.contains("-") && !words.contains("pipe:0")) {
            command.add("-nostdin");
        }
        command.addAll(words);
        command.addAll(List.of("-f", "rawvideo", "-pix_fmt", video.format().ffmpegName()));
        command.addAll(List.of("-s", video.width() + "x" + video.height(), "-"));
        return command;
    }

    @Override
    public long nextBytes() {
        return ended || cancelled ? 0 : video.frameBytes();
    }

    @Override
    public long read(final MemorySegment target) throws IOException {
        if (frames == null) {
            frames = start();
        }
        final long count = readUnlessCancelled(frames, target);
        if (count < target.byteSize()) {
            ended = true;
            requireGoodEnd(count);
        }
        return cancelled ? 0 : count;
    }

    /// Destroying the process closes its output under the reader, which is then no failure.
    private long readUnlessCancelled(final ByteInput source, final MemorySegment target) throws IOException {
        try {
            return source.read(target);
        } catch (final IOException e) {
            if (cancelled) {
                return 0;
            }
            throw e;
        }
    }

    private ByteInput start() {
        try {
            final Process started = new ProcessBuilder(command)
                    .redirectInput(ProcessBuilder.Redirect.INHERIT)
                    .start();
            process = started;
            complaints = LineReader.start("ffmpeg-stderr", started.getErrorStream(), line -> {
                lastComplaint = line.isBlank() ? lastComplaint : line.strip();
            });
            if (cancelled) {
                started.destroy();
            }
            return ByteInput.ofPipe(
                    "ffmpeg", new StreamChannel(started.getInputStream()), video.frameBytes(), ByteInput.Length.LIVE);
        } catch (final IOException e) {
            throw new ConfigException("--input ffmpeg: cannot be started: " + e.getMessage(), e);
        }
    }

    /// At the end of ffmpeg's output: it must have been content, and have written whole frames.
    private void requireGoodEnd(final long partBytes) {
        if (cancelled) {
            return;
        }
        final int status = exitStatus();
        if (cancelled) {
            return;
        }
        if (status != 0) {
            final String why = lastComplaint.isEmpty() ? "it said nothing" : lastComplaint;
            throw new ConfigException("ffmpeg ended with status " + status + ": " + why);
        }
        if (partBytes > 0) {
            throw new ConfigException(
                    "ffmpeg ended within a frame: " + partBytes + " of " + video.frameBytes() + " bytes of " + video);
        }
        whole = true;
    }

    private int exitStatus() {
        final Process running = process;
        final Thread reader = complaints;
        if (running == null || reader == null) {
            return 0;
        }
        try {
            final int status = running.waitFor();
            reader.join();
            return status;
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            return 0;
        }
    }

    private static boolean isExecutable(final String executable, final String searchPath) {
        if (executable.contains(File.separator)) {
            return Files.isExecutable(Path.of(executable));
        }
        for (final String directory : searchPath.split(File.pathSeparator, -1)) {
            if (Files.isExecutable(Path.of(directory, executable))) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean isUnfinished() {
        return finite && !whole;
    }

    @Override
    public void cancel() {
        cancelled = true;
        final Process running = process;
        if (running != null) {
            running.destroy();
        }
    }

    @Override
    public void close() {
        cancel();
        if (frames != null) {
            frames.close();
        }
    }
}
