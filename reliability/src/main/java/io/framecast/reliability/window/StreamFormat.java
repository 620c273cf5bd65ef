package io.framecast.reliability.window;

/// A format of a stream's frames, as its source announced it. Immutable; equal only to itself.
///
/// @param serial the how many-th of its session, from 1 on
/// @param number that data headers carry, 1 … 15
/// @param firstSequence of the frames that have it
/// @param bytes the description, 1 … 1024 bytes; not to be changed
public record StreamFormat(int serial, int number, long firstSequence, byte[] bytes) {
    @Override
    public boolean equals(final Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return serial;
    }

    @Override
    public String toString() {
        return "format " + serial + " (number " + number + ", from " + firstSequence + ", " + bytes.length + " bytes)";
    }
}
