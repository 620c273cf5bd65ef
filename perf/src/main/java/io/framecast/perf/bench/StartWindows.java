package io.framecast.perf.bench;

import io.framecast.perf.rivals.ReceiverReport;
import io.framecast.perf.table.Statistics;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/// How a stream began; without windows where these were not asked for.
///
/// @param firstFrameSeconds from the begin of the measurement until every receiver had a frame; NaN if none came
/// @param windows from the first frame on, of the receivers together
public record StartWindows(double firstFrameSeconds, List<Window> windows) {
    static final double SECONDS = 0.25;

    private static final double NS_PER_SECOND = 1e9;
    private static final double STEADY_FROM = 0.75;

    /// A quarter of a second.
    ///
    /// @param goodputMBps of the receiver that got least
    /// @param p99Us of the receiver that was latest
    /// @param compileSeconds of the compilers of all receivers
    public record Window(double goodputMBps, double p99Us, double compileSeconds) {}

    /// @param startNs when the first process was started
    static StartWindows of(final List<ReceiverReport> receivers, final long startNs) {
        final int count = receivers.stream()
                .mapToInt(receiver -> receiver.windows().size())
                .min()
                .orElse(0);
        final long placedNs =
                receivers.stream().mapToLong(ReceiverReport::placedNs).max().orElse(startNs);
        return new StartWindows(
                (placedNs - startNs) / NS_PER_SECOND,
                IntStream.range(0, count).mapToObj(i -> window(receivers, i)).toList());
    }

    private static Window window(final List<ReceiverReport> receivers, final int index) {
        return new Window(
                figures(receivers, index, ReceiverReport.Window::bytes).min().orElse(0) / 1e6 / SECONDS,
                figures(receivers, index, ReceiverReport.Window::p99Ns).max().orElse(0) / 1e3,
                figures(receivers, index, ReceiverReport.Window::compileNs).sum() / NS_PER_SECOND);
    }

    private static LongStream figures(
            final List<ReceiverReport> receivers, final int index, final ToLongFunction<ReceiverReport.Window> figure) {
        return receivers.stream()
                .mapToLong(receiver -> figure.applyAsLong(receiver.windows().get(index)));
    }

    /// Goodput in the window before a moment and in the one behind it; NaN where there are none.
    double goodputAfter(final double seconds) {
        final int at = (int) Math.round(seconds / SECONDS);
        return at < 1 || at >= windows.size()
                ? Double.NaN
                : (windows.get(at - 1).goodputMBps + windows.get(at).goodputMBps) / 2;
    }

    /// The median window of the last quarter.
    double steadyMBps() {
        return Statistics.of(windows.stream()
                        .skip((long) (windows.size() * STEADY_FROM))
                        .map(Window::goodputMBps)
                        .toList())
                .median();
    }

    String text() {
        return String.format(
                Locale.ROOT,
                "first frame after %.2f s; %.0f MB/s after 2 s, %.0f after 4 s, %.0f at the end",
                firstFrameSeconds,
                goodputAfter(2),
                goodputAfter(4),
                steadyMBps());
    }
}
