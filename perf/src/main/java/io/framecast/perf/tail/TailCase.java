package io.framecast.perf.tail;

import io.framecast.perf.table.Texts;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// One setting that repairs are timed in.
///
/// @param loss of each link that loses
/// @param everyLink whether every subscriber's link loses, each by itself, or the first one's alone
/// @param offload whether the source's interface takes many datagrams at once: then they are lost together
record TailCase(int frameBytes, int subscribers, double loss, boolean everyLink, boolean offload) {
    List<Double> losses() {
        final List<Double> losses = new ArrayList<>();
        for (int i = 0; i < subscribers; i++) {
            losses.add(everyLink || i == 0 ? loss : 0.0);
        }
        return losses;
    }

    String text() {
        return String.format(
                Locale.ROOT,
                "%s, %d subscribers, %s at %s, offload %s",
                Texts.bytes(frameBytes),
                subscribers,
                Texts.loss(loss),
                everyLink ? "each" : "one",
                offload ? "on" : "off");
    }
}
