package io.framecast.perf.streaming;

import io.framecast.perf.harness.ProcessUse;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/// Resources of the processes of one stream, each a JVM of its own; NaN stands for a figure that is not known.
///
/// @param receiver the mean of those that are not slow
/// @param controlPerDatagram at the source, for each datagram of data
/// @param slowShare of the stream's frames that the slow receiver was given
record StreamUse(ProcessUse source, ProcessUse receiver, double controlPerDatagram, double slowShare) {
    /// @param slow null where there is none
    static StreamUse of(
            final SentReport source, final List<ReceivedReport> receivers, final @Nullable ReceivedReport slow) {
        final ProcessUse mean = new ProcessUse(
                mean(receivers, ProcessUse::cpuShare),
                (int) Math.round(mean(receivers, ProcessUse::threads)),
                Math.round(mean(receivers, ProcessUse::residentBytes)));
        return new StreamUse(
                source.use(),
                mean,
                source.controlPerDatagram() < 0 ? Double.NaN : source.controlPerDatagram(),
                slow == null ? Double.NaN : (double) slow.taken() / source.frames());
    }

    private static double mean(final List<ReceivedReport> receivers, final ToDoubleFunction<ProcessUse> figure) {
        return receivers.stream()
                .mapToDouble(receiver -> figure.applyAsDouble(receiver.use()))
                .average()
                .orElse(Double.NaN);
    }
}
