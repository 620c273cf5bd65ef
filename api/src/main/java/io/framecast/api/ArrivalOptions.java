package io.framecast.api;

/// Settings of an [Arrival].
///
/// @param entries entries in the ring, a power of two, 2 … 65536: what the kernel may hold, and what may wait
///     for it
/// @param closeTimeoutMs how long close waits for the kernel to end
public record ArrivalOptions(int entries, long closeTimeoutMs) {
    public static final int ENTRIES_MIN = 2;
    public static final int ENTRIES_MAX = 1 << 16;
    public static final ArrivalOptions DEFAULT = new ArrivalOptions(256, 5_000);

    public ArrivalOptions {
        if (entries < ENTRIES_MIN || entries > ENTRIES_MAX || Integer.bitCount(entries) != 1) {
            throw new IllegalArgumentException("arrival entries: expected a power of two, " + ENTRIES_MIN + " … "
                    + ENTRIES_MAX + ", got " + entries);
        }
        if (closeTimeoutMs < 1 || closeTimeoutMs > 86_400_000) {
            throw new IllegalArgumentException(
                    "arrival close timeout: expected 1 … 86400000 ms, got " + closeTimeoutMs);
        }
    }

    public ArrivalOptions withEntries(final int value) {
        return new ArrivalOptions(value, closeTimeoutMs);
    }

    public ArrivalOptions withCloseTimeoutMs(final long value) {
        return new ArrivalOptions(entries, value);
    }
}
