package io.framecast.api.format;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/// Raw pixel formats by their names in ffmpeg and GStreamer, as far as width and height determine a frame's length.
public enum PixelFormat {
    GRAY("GRAY8", Layout.PACKED, 1, ElementType.UINT8),
    GRAY16LE("GRAY16_LE", Layout.PACKED, 2, ElementType.UINT16),
    GRAYF32LE("", Layout.PACKED, 4, ElementType.FLOAT32),
    RGB565LE("RGB16", Layout.PACKED, 2, ElementType.UINT16),
    RGB24("RGB", Layout.PACKED, 3, ElementType.UINT8),
    BGR24("BGR", Layout.PACKED, 3, ElementType.UINT8),
    RGBA("RGBA", Layout.PACKED, 4, ElementType.UINT8),
    BGRA("BGRA", Layout.PACKED, 4, ElementType.UINT8),
    ARGB("ARGB", Layout.PACKED, 4, ElementType.UINT8),
    ABGR("ABGR", Layout.PACKED, 4, ElementType.UINT8),
    RGB0("RGBx", Layout.PACKED, 4, ElementType.UINT8),
    BGR0("BGRx", Layout.PACKED, 4, ElementType.UINT8),
    RGB48LE("", Layout.PACKED, 6, ElementType.UINT16),
    RGBA64LE("RGBA64_LE", Layout.PACKED, 8, ElementType.UINT16),
    GBRP("GBR", Layout.PLANES_444, 1, ElementType.UINT8),
    YUYV422("YUY2", Layout.PAIRS, 4, ElementType.UINT8),
    UYVY422("UYVY", Layout.PAIRS, 4, ElementType.UINT8),
    YUV420P("I420", Layout.PLANES_420, 1, ElementType.UINT8),
    YUV420P10LE("I420_10LE", Layout.PLANES_420, 2, ElementType.UINT16),
    NV12("NV12", Layout.PLANE_AND_PAIRS, 1, ElementType.UINT8),
    NV21("NV21", Layout.PLANE_AND_PAIRS, 1, ElementType.UINT8),
    P010LE("P010_10LE", Layout.PLANE_AND_PAIRS, 2, ElementType.UINT16),
    YUV422P("Y42B", Layout.PLANES_422, 1, ElementType.UINT8),
    YUV422P10LE("I422_10LE", Layout.PLANES_422, 2, ElementType.UINT16),
    YUV444P("Y444", Layout.PLANES_444, 1, ElementType.UINT8);

    /// How samples lie; the number beside it is bytes per pixel (PACKED), per two pixels (PAIRS) or per sample.
    private enum Layout {
        PACKED,
        PAIRS,
        PLANES_420,
        PLANES_422,
        PLANES_444,
        PLANE_AND_PAIRS
    }

    private final String gstreamerName;
    private final Layout layout;
    private final int unitBytes;

    @SuppressWarnings("ImmutableEnumChecker")
    private final ElementType sample;

    PixelFormat(final String gstreamerName, final Layout layout, final int unitBytes, final ElementType sample) {
        this.gstreamerName = gstreamerName;
        this.layout = layout;
        this.unitBytes = unitBytes;
        this.sample = sample;
    }

    /// The format of that name in ffmpeg.
    public static Optional<PixelFormat> of(final String ffmpegName) {
        return Arrays.stream(values())
                .filter(format -> format.ffmpegName().equals(ffmpegName))
                .findFirst();
    }

    /// All names in ffmpeg, with commas between them.
    public static String names() {
        return Arrays.stream(values()).map(PixelFormat::ffmpegName).collect(Collectors.joining(", "));
    }

    public String ffmpegName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// Empty where GStreamer 1.22 has no such format.
    public Optional<String> gstreamerName() {
        return gstreamerName.isEmpty() ? Optional.empty() : Optional.of(gstreamerName);
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
                    case PLANES_420, PLANE_AND_PAIRS -> w * h + 2 * halfW * halfH;
                    case PLANES_422 -> w * h + 2 * halfW * h;
                    case PLANES_444 -> 3 * w * h;
                };
    }

    /// The planes of such a frame.
    public List<Plane> planes(final int width, final int height) {
        final long row = (long) unitBytes * width;
        final long half = unitBytes * ((width + 1L) / 2);
        final long luma = row * height;
        final long chroma = half * ((height + 1L) / 2);
        return switch (layout) {
            case PACKED -> List.of(new Plane(0, row));
            case PAIRS -> List.of(new Plane(0, half));
            case PLANES_420 -> List.of(new Plane(0, row), new Plane(luma, half), new Plane(luma + chroma, half));
            case PLANE_AND_PAIRS -> List.of(new Plane(0, row), new Plane(luma, 2 * half));
            case PLANES_422 -> List.of(new Plane(0, row), new Plane(luma, half), new Plane(luma + half * height, half));
            case PLANES_444 -> List.of(new Plane(0, row), new Plane(luma, row), new Plane(2 * luma, row));
        };
    }

    /// The frame as one tensor: height, width and samples of a pixel where these lie together; height × 3/2 by width
    /// for nv12 and its like; 3 planes of height by width. Empty where the size gives none.
    public Optional<Tensor> tensor(final int width, final int height) {
        final long perPixel = unitBytes / sample.bytes();
        return switch (layout) {
            case PACKED ->
                Optional.of(
                        perPixel == 1 ? Tensor.of(sample, height, width) : Tensor.of(sample, height, width, perPixel));
            case PAIRS -> width % 2 == 0 ? Optional.of(Tensor.of(sample, height, width, 2)) : Optional.empty();
            case PLANES_420, PLANE_AND_PAIRS ->
                width % 2 == 0 && height % 2 == 0
                        ? Optional.of(Tensor.of(sample, height / 2 * 3L, width))
                        : Optional.empty();
            case PLANES_422 -> width % 2 == 0 ? Optional.of(Tensor.of(sample, 2L * height, width)) : Optional.empty();
            case PLANES_444 -> Optional.of(Tensor.of(sample, 3, height, width));
        };
    }
}
