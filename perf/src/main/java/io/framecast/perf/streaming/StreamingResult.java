package io.framecast.perf.streaming;

import io.framecast.perf.harness.BackgroundLoad;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/// The result of one stream; NaN stands for a figure that is not known.
///
/// @param broadcastMBps at the receiver that got least
/// @param backgroundMBps copied in the background, each way, by the mean of the processes that did
/// @param latencyUs of frames alone, at the receiver that had them last
/// @param checkedFrames frames of which every byte was compared, at the receiver with fewest
/// @param link what its links carried
/// @param use what its processes took
record StreamingResult(
        String transport,
        String placement,
        String device,
        double broadcastMBps,
        double backgroundMBps,
        double latencyUs,
        double latencyP99Us,
        double compilingShare,
        long checkedFrames,
        LinkUse link,
        StreamUse use) {
    static StreamingResult of(
            final StreamingPlan plan,
            final Direction direction,
            final SentReport source,
            final List<ReceivedReport> all,
            final boolean lastIsSlow) {
        final List<ReceivedReport> receivers = lastIsSlow ? all.subList(0, all.size() - 1) : all;
        final List<Double> copied = new ArrayList<>();
        if (direction.atSource() != BackgroundLoad.Load.NONE) {
            copied.add(source.backgroundMBps());
        }
        if (direction.atReceiver() != BackgroundLoad.Load.NONE) {
            receivers.forEach(receiver -> copied.add(receiver.backgroundMBps()));
        }
        return new StreamingResult(
                source.transport(),
                names(receivers, ReceivedReport::placement),
                names(receivers, ReceivedReport::device),
                -most(receivers, receiver -> -receiver.broadcastMBps()),
                copied.stream().mapToDouble(Double::doubleValue).average().orElse(0),
                positive(most(receivers, ReceivedReport::latencyUs)),
                positive(most(receivers, ReceivedReport::latencyP99Us)),
                Math.max(source.compilingShare(), most(receivers, ReceivedReport::compilingShare)),
                (long) -most(receivers, receiver -> -receiver.checkedFrames()),
                LinkUse.of(plan, source, receivers),
                StreamUse.of(source, receivers, lastIsSlow ? all.getLast() : null));
    }

    String text() {
        return String.format(
                Locale.ROOT,
                "%.1f MB/s, background %.0f MB/s, alone %.2f ms",
                broadcastMBps,
                backgroundMBps,
                latencyUs / 1e3);
    }

    private static double most(final List<ReceivedReport> all, final ToDoubleFunction<ReceivedReport> figure) {
        return all.stream().mapToDouble(figure).max().orElse(Double.NaN);
    }

    private static double positive(final double value) {
        return value > 0 ? value : Double.NaN;
    }

    // Receivers by turns on several devices name each once.
    private static String names(final List<ReceivedReport> all, final Function<ReceivedReport, String> name) {
        return all.stream().map(name).distinct().collect(Collectors.joining("+"));
    }
}
