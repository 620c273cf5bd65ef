package io.framecast.samples.input;

import static io.framecast.fuzz.FuzzLimits.require;
import static io.framecast.fuzz.FuzzLimits.requireAllocation;
import static io.framecast.fuzz.FuzzLimits.requireEqual;

import io.framecast.api.error.ConfigException;
import io.framecast.api.format.FrameFormat;
import io.framecast.api.format.PixelFormat;
import io.framecast.fuzz.FuzzCorpus;
import io.framecast.samples.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// The texts of options and of JSON. The first character of an input chooses the reader: `f` a format, `v` a video's,
/// `i` an input, `j` JSON. A text is refused by the documented exception, or read, and read again as the same.
public final class OptionTextFuzzTest {
    // Jazzer's own look at regular expressions allocates most of it.
    private static final long ALLOCATED_MAX = 256 << 20;
    private static final FrameFormat PICTURE = FrameFormat.picture(PixelFormat.NV12, 64, 48);

    @TestFactory
    Stream<DynamicTest> shouldReadOrRefuse() {
        return FuzzCorpus.of(
                OptionTextFuzzTest.class,
                Map.of(
                        "format", bytes("ffloat32[3x224x224],rate=30000/1001,camera=left,samples=48000.5x2"),
                        "range", bytes("fuint8x4[],range=full,rate=30"),
                        "video", bytes("v1920x1080xrgb24"),
                        "file", bytes("i/tmp/video.rgb"),
                        "ffmpeg", bytes("iffmpeg:-f lavfi -i testsrc"),
                        "json",
                                bytes(
                                        "j{\"a\": [1, -2.5e3, true, null, \"\\u007f\\n\"], \"b\": {\"c\": 9223372036854775807}}")),
                OptionTextFuzzTest::fuzzerTestOneInput);
    }

    private static byte[] bytes(final String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    public static void fuzzerTestOneInput(final byte[] input) {
        final String text = new String(input, StandardCharsets.UTF_8);
        if (!text.isEmpty()) {
            requireAllocation(ALLOCATED_MAX, () -> read(text.charAt(0), text.substring(1)));
        }
    }

    private static void read(final char kind, final String text) {
        if (kind == 'j') {
            readJson(text);
            return;
        }
        try {
            switch (kind) {
                case 'f' ->
                    require(!FormatOption.parse(text, PICTURE).toString().isEmpty(), "a description");
                case 'v' -> {
                    final VideoFormat video = VideoFormat.parse(text);
                    requireEqual(video, VideoFormat.parse(video.toString()));
                    require(video.frameBytes() > 0, "a length");
                }
                default -> InputSpec.parse(text);
            }
        } catch (final ConfigException e) {
            require(!String.valueOf(e.getMessage()).isEmpty(), "a message");
        }
    }

    private static void readJson(final String text) {
        final Object value;
        final String written;
        try {
            value = Json.parse(text);
            // A number too large for 64 bits of floating point is infinite.
            written = Json.write(value);
        } catch (final IllegalArgumentException e) {
            return;
        }
        require(Objects.equals(value, Json.parse(written)), "the same values in " + written);
        require(written.lines().count() == 1, "one line");
    }
}
