package io.framecast.samples.options;

/// A number of bytes as people write it: `6220800`, `64k`, `16M`, `1g`.
public record Size(long value) {
    /// The number where it is bounded by an int.
    public int bytes() {
        return Math.toIntExact(value);
    }

    @Override
    public String toString() {
        return Long.toString(value);
    }
}
