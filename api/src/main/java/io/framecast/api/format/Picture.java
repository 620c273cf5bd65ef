package io.framecast.api.format;

import java.util.List;
import java.util.Locale;

/// A frame as a picture of raw pixels.
///
/// @param width in pixels, 1 … 65 535
/// @param height in pixels, 1 … 65 535
/// @param planes as many as the pixel format has; their rows may be longer than the pixels need
public record Picture(PixelFormat pixels, int width, int height, List<Plane> planes, Range range) {
    /// Which values samples take.
    public enum Range {
        UNKNOWN,
        /// Luma 16 … 235, of 8 bits.
        LIMITED,
        /// 0 … 255, of 8 bits.
        FULL;

        /// The name in text.
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public Picture {
        planes = List.copyOf(planes);
        if (width < 1 || height < 1 || width > 65_535 || height > 65_535) {
            throw new IllegalArgumentException(
                    "picture: expected width and height of 1 … 65535, got " + width + "x" + height);
        }
        final int count = pixels.planes(width, height).size();
        if (planes.size() != count) {
            throw new IllegalArgumentException(
                    "picture: expected " + count + " planes of " + pixels.ffmpegName() + ", got " + planes.size());
        }
    }

    /// Planes without gaps, as ffmpeg's rawvideo writes them.
    public static Picture of(final PixelFormat pixels, final int width, final int height) {
        return new Picture(pixels, width, height, pixels.planes(width, height), Range.UNKNOWN);
    }

    /// Whether the planes lie as [#of] lays them.
    public boolean isCompact() {
        return planes.equals(pixels.planes(width, height));
    }

    @Override
    public String toString() {
        return width + "x" + height + "x" + pixels.ffmpegName();
    }
}
