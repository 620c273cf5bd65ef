package io.framecast.perf.bench;

import io.framecast.perf.rivals.ReceiverReport;
import io.framecast.perf.table.RoundsRow;
import io.framecast.perf.table.Statistics;
import java.util.List;
import java.util.stream.IntStream;

/// One start of a system's processes.
///
/// @param firstFrameSeconds from the start of the first process until every receiver had a frame
/// @param windows from the first frame on, of the receivers together
/// @param failure why there is no result, or empty
record StartRound(String transport, double firstFrameSeconds, List<Window> windows, String failure)
        implements RoundsRow.Round {
    static final double WINDOW_SECONDS = 0.25;

    private static final double NS_PER_SECOND = 1e9;
    private static final double STEADY_FROM = 0.75;

    /// A quarter of a second.
    ///
    /// @param goodputMBps of the receiver that got least
    /// @param p99Us of the receiver that was latest
    /// @param compileSeconds of the compilers of all receivers
    record Window(double goodputMBps, double p99Us, double compileSeconds) {
        private static final double NS_PER_US = 1e3;
        private static final double BYTES_PER_MB = 1e6;

        static Window of(final List<ReceiverReport.Window> receivers) {
            return new Window(
                    receivers.stream()
                                    .mapToLong(ReceiverReport.Window::bytes)
                                    .min()
                                    .orElse(0)
                            / BYTES_PER_MB
                            / WINDOW_SECONDS,
                    receivers.stream()
                                    .mapToLong(ReceiverReport.Window::p99Ns)
                                    .max()
                                    .orElse(0)
                            / NS_PER_US,
                    receivers.stream()
                                    .mapToLong(ReceiverReport.Window::compileNs)
                                    .sum()
                            / NS_PER_SECOND);
        }
    }

    static StartRound failed(final String transport, final String failure) {
        return new StartRound(transport, Double.NaN, List.of(), failure);
    }

    /// @param startNs when the first process was started
    static StartRound of(final Measurement.Reports reports, final long startNs) {
        final List<ReceiverReport> receivers = reports.receivers();
        final int count = receivers.stream()
                .mapToInt(receiver -> receiver.windows().size())
                .min()
                .orElse(0);
        final long placedNs =
                receivers.stream().mapToLong(ReceiverReport::placedNs).max().orElse(startNs);
        return new StartRound(
                reports.source().transport(),
                (placedNs - startNs) / NS_PER_SECOND,
                IntStream.range(0, count)
                        .mapToObj(i -> Window.of(receivers.stream()
                                .map(receiver -> receiver.windows().get(i))
                                .toList()))
                        .toList(),
                "");
    }

    /// Goodput in the window before a moment and in the one behind it; NaN where there are none.
    double goodputAfter(final double seconds) {
        final int at = (int) Math.round(seconds / WINDOW_SECONDS);
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
}
