package io.framecast.samples.input;

import io.framecast.api.error.ConfigException;
import io.framecast.api.format.PixelFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Size and pixel format of raw video: `1920x1080xrgb24`.
public record VideoFormat(int width, int height, PixelFormat format) {
    public static final VideoFormat DEFAULT = new VideoFormat(1920, 1080, PixelFormat.RGB24);

    private static final Pattern TEXT = Pattern.compile("(\\d{1,5})x(\\d{1,5})x([A-Za-z0-9_]+)");

    public VideoFormat {
        if (width < 1 || height < 1 || width > 65_535 || height > 65_535) {
            throw new ConfigException("--video: expected width and height of 1 … 65535, got " + width + "x" + height);
        }
    }

    public static VideoFormat parse(final String text) {
        final Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            throw new ConfigException("--video: expected WIDTHxHEIGHTxFORMAT such as 1920x1080xrgb24, got " + text);
        }
        final int width = Integer.parseInt(matcher.group(1));
        final int height = Integer.parseInt(matcher.group(2));
        return new VideoFormat(width, height, pixels(matcher.group(3)));
    }

    private static PixelFormat pixels(final String name) {
        return PixelFormat.of(name)
                .orElseThrow(() -> new ConfigException(
                        "--video: unknown pixel format " + name + "; known are " + PixelFormat.names()));
    }

    public long frameBytes() {
        return format.frameBytes(width, height);
    }

    @Override
    public String toString() {
        return width + "x" + height + "x" + format.ffmpegName();
    }
}
