package io.framecast.api.format;

import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Describes the frames of a stream. A publisher sets it with [io.framecast.api.Publisher#format]; each frame that a
/// subscriber polls has it, from its first one on. Everything in it is optional; nothing in it is checked against the
/// frames' bytes.
///
/// Its encoding is CBOR of at most 1 KiB (docs/formats.md).
///
/// @param tensor the frame's bytes as one tensor
/// @param picture the frame's bytes as a picture
/// @param samples the frame's bytes as samples in time
/// @param rate frames a second
/// @param keys anything else, such as `camera` or `units`: up to [#KEYS_MAX], in the order of their names
public record FrameFormat(
        Optional<Tensor> tensor,
        Optional<Picture> picture,
        Optional<Samples> samples,
        Optional<FrameRate> rate,
        Map<String, String> keys) {
    public static final int KEYS_MAX = 32;

    /// Nothing is known.
    public static final FrameFormat EMPTY =
            new FrameFormat(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), Map.of());

    public FrameFormat {
        if (keys.size() > KEYS_MAX) {
            throw new IllegalArgumentException("format: expected at most " + KEYS_MAX + " keys, got " + keys.size());
        }
        keys = Collections.unmodifiableMap(new TreeMap<>(keys));
    }

    /// Frames of one tensor each, row-major without gaps.
    public static FrameFormat tensor(final ElementType type, final long... shape) {
        return EMPTY.withTensor(Tensor.of(type, shape));
    }

    /// Raw pictures without gaps, and their tensor where one describes them ([PixelFormat#tensor]).
    public static FrameFormat picture(final PixelFormat pixels, final int width, final int height) {
        final Optional<Tensor> tensor = pixels.tensor(width, height);
        return new FrameFormat(
                tensor, Optional.of(Picture.of(pixels, width, height)), Optional.empty(), Optional.empty(), Map.of());
    }

    public FrameFormat withTensor(final @Nullable Tensor value) {
        return new FrameFormat(Optional.ofNullable(value), picture, samples, rate, keys);
    }

    public FrameFormat withPicture(final @Nullable Picture value) {
        return new FrameFormat(tensor, Optional.ofNullable(value), samples, rate, keys);
    }

    public FrameFormat withSamples(final @Nullable Samples value) {
        return new FrameFormat(tensor, picture, Optional.ofNullable(value), rate, keys);
    }

    public FrameFormat withRate(final @Nullable FrameRate value) {
        return new FrameFormat(tensor, picture, samples, Optional.ofNullable(value), keys);
    }

    public FrameFormat withKey(final String key, final String value) {
        final Map<String, String> all = new TreeMap<>(keys);
        all.put(key, value);
        return new FrameFormat(tensor, picture, samples, rate, all);
    }

    /// One line for people: `1280x720xnv12, uint8[1080x1280], 30/s, camera=left`.
    @Override
    public String toString() {
        final StringJoiner parts = new StringJoiner(", ");
        picture.ifPresent(value -> parts.add(value.toString()));
        tensor.ifPresent(value -> parts.add(value.toString()));
        samples.ifPresent(value -> parts.add(value.channels() + " channels at " + value.rate() + " Hz"));
        rate.ifPresent(value -> parts.add(value + "/s"));
        keys.forEach((key, value) -> parts.add(key + "=" + value));
        return parts.toString();
    }
}
