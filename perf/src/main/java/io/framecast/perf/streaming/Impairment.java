package io.framecast.perf.streaming;

/// Conditions that impair a stream: losses on every link, and a receiver that is too slow.
///
/// @param loss share of packets that each host loses at its input, data and control alike
/// @param slowDelivery `delivery=` of the last receiver, which then takes frames at a quarter of its link's rate; empty
/// where
///     all are as fast as they can. What it takes is reported, and not counted as the stream's goodput
public record Impairment(double loss, String slowDelivery) {
    public static final Impairment NONE = new Impairment(0, "");

    private static final double PER_CENT = 100;

    boolean hasSlow() {
        return !slowDelivery.isEmpty();
    }

    /// Behind a case's other words; empty for [#NONE].
    String text() {
        return (loss > 0 ? ", " + plain(loss * PER_CENT) + " % loss" : "")
                + (hasSlow() ? ", one slow (" + slowDelivery + ")" : "");
    }

    private static String plain(final double value) {
        return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
    }
}
