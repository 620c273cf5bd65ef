package io.framecast.samples.input;

import io.framecast.api.ByteSize;
import io.framecast.api.StreamConfig;
import io.framecast.api.error.ConfigException;
import io.framecast.api.format.FrameFormat;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// How long frames are.
///
/// @param bytes of a full frame
/// @param video the format that length comes from, for inputs that need it
/// @param isVideo whether frames are such pictures
public record FrameShape(long bytes, VideoFormat video, boolean isVideo) {
    public FrameShape {
        if (bytes < 1 || bytes >= StreamConfig.FRAME_MAX_LIMIT) {
            throw new ConfigException(
                    "--frame-bytes: expected 1 … " + (StreamConfig.FRAME_MAX_LIMIT - 1) + ", got " + bytes);
        }
    }

    /// From the two options that set it, of which at most one is given.
    public static FrameShape of(
            final InputSpec input, final @Nullable String frameBytes, final @Nullable String video) {
        if (frameBytes != null && video != null) {
            throw new ConfigException("--frame-bytes and --video: give one of them");
        }
        if (frameBytes != null && input instanceof InputSpec.Ffmpeg) {
            throw new ConfigException("--frame-bytes: ffmpeg's frames are sized by --video WIDTHxHEIGHTxFORMAT");
        }
        if (frameBytes != null) {
            return new FrameShape(parseBytes(frameBytes), VideoFormat.DEFAULT, false);
        }
        if (input instanceof InputSpec.File(Path path)) {
            Container.requireNone(path);
        }
        final VideoFormat format = video == null ? VideoFormat.DEFAULT : VideoFormat.parse(video);
        return new FrameShape(format.frameBytes(), format, true);
    }

    /// The format, as far as it is known.
    public FrameFormat format() {
        return isVideo ? FrameFormat.picture(video.format(), video.width(), video.height()) : FrameFormat.EMPTY;
    }

    private static long parseBytes(final String text) {
        try {
            return ByteSize.parse("--frame-bytes", text);
        } catch (final IllegalArgumentException e) {
            throw new ConfigException(String.valueOf(e.getMessage()), e);
        }
    }
}
