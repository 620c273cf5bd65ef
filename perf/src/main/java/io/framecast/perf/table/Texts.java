package io.framecast.perf.table;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;

/// Quantities for people.
public final class Texts {
    private Texts() {}

    /// A byte count: `64 B`, `1 MiB`, `6.22 MB`.
    public static String bytes(final long bytes) {
        if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) {
            return (bytes >> 20) + " MiB";
        }
        if (bytes >= 1 << 10 && bytes < 1 << 20 && bytes % (1 << 10) == 0) {
            return (bytes >> 10) + " KiB";
        }
        return bytes < 1_000_000 ? bytes + " B" : String.format(Locale.ROOT, "%.2f MB", bytes / 1e6);
    }

    /// A share of lost datagrams, in percent.
    public static String loss(final double share) {
        return new BigDecimal(share * 100)
                        .round(new MathContext(3))
                        .stripTrailingZeros()
                        .toPlainString() + " % loss";
    }
}
