package io.framecast.api.format;

/// A frame as samples of audio or of a sensor, channels interleaved; the tensor has their type and number.
///
/// @param rate samples a second of each channel, above 0
/// @param channels at least 1
public record Samples(double rate, int channels) {
    public Samples {
        if (!(rate > 0) || Double.isInfinite(rate) || channels < 1) {
            throw new IllegalArgumentException(
                    "samples: expected a rate above 0 and at least 1 channel, got " + rate + " and " + channels);
        }
    }
}
