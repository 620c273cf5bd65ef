package io.framecast.reliability.count;

/// A number that operators see, in Prometheus and in the counters file. Names follow Prometheus: base unit before
/// the end, `_total` last on a value that only grows. Reasons and lanes are labels, so that sums over them make
/// sense.
///
/// @param name without `framecast_`, which stands in front of each
/// @param help one sentence
public record Metric(String name, Unit unit, String help) {
    /// One-sided operations of either end that became datagrams; the label `reason` says why.
    public static final Metric ONE_SIDED_FALLBACKS = new Metric(
            "one_sided_fallbacks_total", Unit.EVENTS, "One-sided operations replaced by datagrams, by reason.");

    /// Repairs that a source or a co-root did not send.
    public static final Metric LIMITED_REPAIRS = new Metric(
            "limited_repairs_total",
            Unit.DATAGRAMS,
            "Repairs that were not sent, because a member asked for more than its share of the data rate.");

    private static final String PREFIX = "framecast_";
    private static final String TOTAL = "_total";

    /// The unit of a value.
    public enum Unit {
        EVENTS("", 1),
        FRAMES("", 1),
        DATAGRAMS("", 1),
        MEMBERS("", 1),
        BYTES("bytes", 1),
        /// Prometheus wants base units: exported as seconds.
        NANOSECONDS("seconds", 1e9);

        private final String exported;
        private final double perExported;

        Unit(final String exported, final double perExported) {
            this.exported = exported;
            this.perExported = perExported;
        }

        /// Prometheus' base unit, which then ends the name; empty for plain counts.
        public String exported() {
            return exported;
        }

        /// A value in Prometheus' base unit.
        public double export(final long value) {
            return value / perExported;
        }
    }

    /// The full name, with `_total` on counters. It identifies the metric across versions.
    public String exportedName() {
        return PREFIX + name;
    }

    /// Whether a value only grows.
    public boolean onlyGrows() {
        return name.endsWith(TOTAL);
    }

    /// The name of the family, as OpenMetrics has it: without `_total`.
    public String familyName() {
        return PREFIX + (onlyGrows() ? name.substring(0, name.length() - TOTAL.length()) : name);
    }
}
