package io.framecast.samples.input;

import io.framecast.api.error.ConfigException;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/// Raw pixel formats by their ffmpeg names, as far as width and height determine a frame's length.
public enum PixelFormat {
    GRAY(Layout.PACKED, 1),
    GRAY16LE(Layout.PACKED, 2),
    GRAYF32LE(Layout.PACKED, 4),
    RGB565LE(Layout.PACKED, 2),
    RGB24(Layout.PACKED, 3),
    BGR24(Layout.PACKED, 3),
    RGBA(Layout.PACKED, 4),
    BGRA(Layout.PACKED, 4),
    ARGB(Layout.PACKED, 4),
    ABGR(Layout.PACKED, 4),
    RGB0(Layout.PACKED, 4),
    BGR0(Layout.PACKED, 4),
    RGB48LE(Layout.PACKED, 6),
    RGBA64LE(Layout.PACKED, 8),
    GBRP(Layout.PACKED, 3),
    YUYV422(Layout.PAIRS, 4),
    UYVY422(Layout.PAIRS, 4),
    YUV420P(Layout.CHROMA_420, 1),
    YUV420P10LE(Layout.CHROMA_420, 2),
    NV12(Layout.CHROMA_420, 1),
    NV21(Layout.CHROMA_420, 1),
    P010LE(Layout.CHROMA_420, 2),
    YUV422P(Layout.CHROMA_422, 1),
    YUV422P10LE(Layout.CHROMA_422, 2),
    YUV444P(Layout.PACKED, 3);

    /// How samples lie; the number beside it is bytes per pixel (PACKED), per two pixels (PAIRS) or per sample.
    private enum Layout {
        PACKED,
        PAIRS,
        CHROMA_420,
        CHROMA_422
    }

    private final Layout layout;
    private final int unitBytes;

    PixelFormat(final Layout layout, final int unitBytes) {
        this.layout = layout;
        this.unitBytes = unitBytes;
    }

    public static PixelFormat parse(final String name) {
        return Arrays.stream(values())
                .filter(format -> format.ffmpegName().equals(name))
                .findFirst()
                .orElseThrow(() -> new ConfigException("--video: unknown pixel format " + name + "; known are "
                        + Arrays.stream(values()).map(PixelFormat::ffmpegName).collect(Collectors.joining(", "))));
    }

    public String ffmpegName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// Bytes of one frame as ffmpeg's rawvideo writes it: odd sizes round chroma up.
    public long frameBytes(final int width, final int height) {
        final long w = width;
        final long h = height;
        final long halfW = (w + 1) / 2;
        final long halfH = (h + 1) / 2;
        return unitBytes
                * switch (layout) {
                    case PACKED -> w * h;
                    case PAIRS -> halfW * h;
                    case CHROMA_420 -> w * h + 2 * halfW * halfH;
                    case CHROMA_422 -> w * h + 2 * halfW * h;
                };
    }
}
