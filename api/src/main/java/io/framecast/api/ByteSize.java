package io.framecast.api;

/// Byte counts as people write them: `6220800`, `64k`, `16M`, `1g` (powers of 1024).
public final class ByteSize {
    private ByteSize() {}

    /// Reads a byte count.
    ///
    /// @param key named in the complaint
    /// @throws IllegalArgumentException naming key, expectation and value
    public static long parse(final String key, final String text) {
        final String lower = text.toLowerCase(java.util.Locale.ROOT);
        final int shift = lower.endsWith("k") ? 10 : lower.endsWith("m") ? 20 : lower.endsWith("g") ? 30 : 0;
        final String digits = shift == 0 ? lower : lower.substring(0, lower.length() - 1);
        if (!isNumber(digits)) {
            throw new IllegalArgumentException(
                    key + ": expected a number of bytes, such as 6220800, 64k, 16m or 1g, got " + text);
        }
        final long number = Long.parseLong(digits);
        if (number > Long.MAX_VALUE >> shift) {
            throw new IllegalArgumentException(key + ": expected less than 2^63 bytes, got " + text);
        }
        return number << shift;
    }

    static boolean isNumber(final String text) {
        return text.matches("\\d{1,18}");
    }
}
