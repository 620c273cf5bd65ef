package io.framecast.api;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Text to [Delivery], and its times back to text.
final class DeliveryParser {
    private static final Pattern PATIENT = Pattern.compile("(deadline|evict)=([0-9]{1,9})(ms|s)");

    private DeliveryParser() {}

    static Delivery parse(final String text) {
        if (text.equals(Delivery.RELIABLE.toString())) {
            return Delivery.RELIABLE;
        }
        if (text.equals(Delivery.LATEST.toString())) {
            return Delivery.LATEST;
        }
        final Matcher matcher = PATIENT.matcher(text);
        final long patienceMs = matcher.matches() ? patienceMs(matcher) : 0;
        if (patienceMs < 1 || patienceMs > Delivery.PATIENCE_MAX_MS) {
            throw new IllegalArgumentException("delivery: expected reliable, latest, deadline=T or evict=T with T such"
                    + " as 40ms or 2s, 1ms … " + Delivery.PATIENCE_MAX_MS + "ms, got " + text);
        }
        return matcher.group(1).equals("deadline")
                ? new Delivery.Deadline((int) patienceMs)
                : new Delivery.Evict((int) patienceMs);
    }

    private static long patienceMs(final Matcher matcher) {
        final long number = Long.parseLong(matcher.group(2));
        return matcher.group(3).equals("s") ? number * 1000 : number;
    }

    static void requirePatience(final int patienceMs) {
        if (patienceMs < 1 || patienceMs > Delivery.PATIENCE_MAX_MS) {
            throw new IllegalArgumentException(
                    "delivery: expected a patience of 1 … " + Delivery.PATIENCE_MAX_MS + " ms, got " + patienceMs);
        }
    }

    static String time(final int ms) {
        return ms % 1000 == 0 ? ms / 1000 + "s" : ms + "ms";
    }
}
