package io.framecast.api.format;

/// Frames a second, as a fraction: 30000/1001.
///
/// @param numerator at least 1
/// @param denominator at least 1
public record FrameRate(int numerator, int denominator) {
    public FrameRate {
        if (numerator < 1 || denominator < 1) {
            throw new IllegalArgumentException(
                    "frame rate: expected a fraction of numbers of at least 1, got " + numerator + "/" + denominator);
        }
    }

    @Override
    public String toString() {
        return denominator == 1 ? String.valueOf(numerator) : numerator + "/" + denominator;
    }
}
