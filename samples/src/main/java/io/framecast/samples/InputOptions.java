package io.framecast.samples;

import io.framecast.api.format.FrameFormat;
import io.framecast.samples.input.FormatOption;
import io.framecast.samples.input.FrameShape;
import io.framecast.samples.input.InputSpec;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The input of a publisher, and how it is cut into frames: shared by `publish` and `demo`.
public final class InputOptions {
    private static final double LIVE_FPS = 60;

    @Option(
            names = "--frame-bytes",
            paramLabel = "N",
            description = "Frame length, also as 64k, 6M, 1g; default: that of --video.")
    private @Nullable String frameBytes;

    @Option(
            names = "--video",
            paramLabel = "WxHxFMT",
            description = "Raw video frames, FMT as ffmpeg names it; default 1920x1080xrgb24 (6220800 bytes).")
    private @Nullable String video;

    @Option(
            names = "--format",
            paramLabel = "F",
            description = "The format of frames, for subscribers: parts with commas between them, as"
                    + " float32[3x224x224],rate=30,samples=48000x2,range=full, and any KEY=VALUE. Pictures of --video"
                    + " are described without it.")
    private @Nullable String format;

    @Option(
            names = {"--rate", "--fps"},
            paramLabel = "FPS",
            description = "Frames per second, 0: as fast as credit allows. Default: 60 for test, 0 for other inputs,"
                    + " which have a rate of their own or none.")
    private @Nullable Double rate;

    /// @param input the parsed `--input`: demo has a default where publish has none
    public FrameShape shape(final InputSpec input) {
        return FrameShape.of(input, frameBytes, video);
    }

    /// The format that subscribers learn.
    public FrameFormat format(final FrameShape shape) {
        return format == null ? shape.format() : FormatOption.parse(format, shape.format());
    }

    public double framesPerSecond(final InputSpec input) {
        if (rate != null) {
            return rate;
        }
        return input instanceof InputSpec.Test ? LIVE_FPS : 0;
    }

    /// The same options again, for a child.
    public List<String> arguments() {
        final List<String> arguments = new ArrayList<>();
        add(arguments, "--frame-bytes", frameBytes);
        add(arguments, "--video", video);
        add(arguments, "--format", format);
        add(arguments, "--rate", rate);
        return arguments;
    }

    private static void add(final List<String> arguments, final String name, final @Nullable Object value) {
        if (value != null) {
            arguments.add(name);
            arguments.add(value.toString());
        }
    }
}
