package io.framecast.samples.input;

import io.framecast.api.error.ConfigException;
import io.framecast.api.format.ElementType;
import io.framecast.api.format.FrameFormat;
import io.framecast.api.format.FrameRate;
import io.framecast.api.format.Picture;
import io.framecast.api.format.Samples;
import io.framecast.api.format.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// The value of `--format`: parts with commas between them, such as `float32[3x224x224],rate=30,camera=left`.
public final class FormatOption {
    private static final Pattern TENSOR = Pattern.compile("([a-z]+\\d*(?:x\\d+)?)\\[([\\dx]*)]");
    private static final Pattern RATE = Pattern.compile("(\\d{1,9})(?:/(\\d{1,9}))?");
    private static final Pattern SAMPLES = Pattern.compile("(\\d+(?:\\.\\d+)?)x(\\d{1,9})");
    private static final int DIMENSION_DIGITS_MAX = 18;
    private static final String A_TENSOR = "TYPE[SHAPE] such as uint8[480x640x3]";
    private static final String A_PICTURE = "--video WIDTHxHEIGHTxPIXELS such as --video 1280x720xnv12";
    // Names that have a part of their own: as a key of any value they would mean nothing to a reader.
    private static final Map<String, String> NO_KEYS = Map.ofEntries(
            Map.entry("tensor", A_TENSOR),
            Map.entry("type", A_TENSOR),
            Map.entry("dtype", A_TENSOR),
            Map.entry("shape", A_TENSOR),
            Map.entry("strides", A_TENSOR),
            Map.entry("picture", A_PICTURE),
            Map.entry("video", A_PICTURE),
            Map.entry("pixels", A_PICTURE),
            Map.entry("width", A_PICTURE),
            Map.entry("height", A_PICTURE),
            Map.entry("planes", A_PICTURE),
            Map.entry("channels", "samples=RATExCHANNELS such as samples=48000x2"),
            Map.entry("fps", "rate=30 or rate=30000/1001"),
            Map.entry("framerate", "rate=30 or rate=30000/1001"));

    private FormatOption() {}

    /// @param known of the input
    /// @throws ConfigException with one line that names the expected value
    public static FrameFormat parse(final String text, final FrameFormat known) {
        FrameFormat format = known;
        try {
            for (final String part : text.split(",", -1)) {
                format = with(format, part.strip());
            }
        } catch (final IllegalArgumentException e) {
            throw new ConfigException("--format: " + e.getMessage(), e);
        }
        return format;
    }

    private static FrameFormat with(final FrameFormat format, final String part) {
        final Matcher tensor = TENSOR.matcher(part);
        if (tensor.matches()) {
            return format.withTensor(
                    new Tensor(ElementType.parse(tensor.group(1)), shape(part, tensor.group(2)), List.of()));
        }
        final int equals = part.indexOf('=');
        if (equals < 1) {
            throw new IllegalArgumentException(
                    "expected TYPE[SHAPE] such as uint8[480x640x3], rate=, range=, samples=, or another KEY=VALUE, got "
                            + (part.isEmpty() ? "nothing" : part));
        }
        final String value = part.substring(equals + 1);
        return switch (part.substring(0, equals)) {
            case "rate" -> format.withRate(rate(value));
            case "range" -> format.withPicture(picture(format, value));
            case "samples" -> format.withSamples(samples(value));
            default -> format.withKey(key(part.substring(0, equals), part), value);
        };
    }

    private static String key(final String name, final String part) {
        final String known = NO_KEYS.get(name);
        if (known != null) {
            throw new IllegalArgumentException("expected " + known + ", got " + part);
        }
        return name;
    }

    private static List<Long> shape(final String part, final String text) {
        if (text.isEmpty()) {
            return List.of();
        }
        final List<String> lengths = Arrays.asList(text.split("x", -1));
        if (lengths.stream().anyMatch(length -> length.isEmpty() || length.length() > DIMENSION_DIGITS_MAX)) {
            throw new IllegalArgumentException("expected a shape such as 480x640x3, got " + part);
        }
        return lengths.stream().map(Long::parseLong).collect(Collectors.toList());
    }

    private static FrameRate rate(final String value) {
        final Matcher matcher = RATE.matcher(value);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("expected rate=30 or rate=30000/1001, got rate=" + value);
        }
        return new FrameRate(
                Integer.parseInt(matcher.group(1)), matcher.group(2) == null ? 1 : Integer.parseInt(matcher.group(2)));
    }

    private static Picture picture(final FrameFormat format, final String value) {
        final Picture picture =
                format.picture().orElseThrow(() -> new IllegalArgumentException("range= is of pictures: give --video"));
        for (final Picture.Range range : Picture.Range.values()) {
            if (range.label().equals(value.toLowerCase(Locale.ROOT))) {
                return new Picture(picture.pixels(), picture.width(), picture.height(), picture.planes(), range);
            }
        }
        throw new IllegalArgumentException("expected range=full, limited or unknown, got range=" + value);
    }

    private static Samples samples(final String value) {
        final Matcher matcher = SAMPLES.matcher(value);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "expected samples=RATExCHANNELS such as samples=48000x2, got samples=" + value);
        }
        return new Samples(Double.parseDouble(matcher.group(1)), Integer.parseInt(matcher.group(2)));
    }
}
