package io.framecast.perf.bench;

import io.framecast.perf.rivals.ReceiverReport;
import io.framecast.perf.rivals.SourceReport;
import io.framecast.perf.table.Statistics;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.HdrHistogram.Histogram;

/// The result of one system in one round; NaN stands for a figure that is not known.
///
/// @param goodputMBps of the receiver that got least
/// @param messagesPerSecond frames to the receiver that got fewest
/// @param cpuSecondsPerGB of all processes, per 10^9 payload bytes delivered to one receiver
/// @param sourceCpuUsPerFrame of the publisher alone, in microseconds
/// @param compilingShare time of the JVMs' compilers, their waits for a core included, per CPU time of all
/// @param p50Us from due to in place, the frames of all receivers together
/// @param overhead payload of the datagrams, or of the connections, of all lanes of the source per byte of
///     frames, less 1
/// @param wireOverhead the same with the headers of IP and above, also the link's where it was counted
/// @param onHost what the receivers cost the host that they share; nothing known where each has its own
/// @param start how the stream began
public record RoundResult(
        String transport,
        double goodputMBps,
        double messagesPerSecond,
        long lostFrames,
        double cpuSecondsPerGB,
        double sourceCpuSecondsPerGB,
        double sourceCpuUsPerFrame,
        double compilingShare,
        double p50Us,
        double p99Us,
        double p999Us,
        double overhead,
        double wireOverhead,
        OnHost onHost,
        StartWindows start) {
    private static final double NS_PER_US = 1e3;
    private static final double NS_PER_SECOND = 1e9;
    private static final double NONE = Double.NaN;

    /// The figures of receivers that share a host.
    ///
    /// @param placement how frames came to where they are read
    /// @param cpuSecondsPerGB of the receivers' processes, per 10^9 bytes delivered to all of them together
    /// @param datagramsRead by all of them, from their sockets, on every lane, in the whole stream
    /// @param datagramsPerSent the same per datagram that the source sent
    /// @param memoryBytes of all of them; what they share counts once
    public record OnHost(
            String placement,
            double cpuSecondsPerGB,
            double datagramsRead,
            double datagramsPerSent,
            double memoryBytes) {
        static OnHost of(final SourceReport source, final List<ReceiverReport> receivers) {
            final double read = sum(receivers, receiver -> receiver.footprint().datagrams());
            return new OnHost(
                    receivers.getFirst().footprint().placement(),
                    Statistics.ratio(
                            sum(receivers, ReceiverReport::cpuNs) / NS_PER_SECOND,
                            sum(receivers, ReceiverReport::bytes) / 1e9),
                    read,
                    Statistics.ratio(read, (double) source.datagrams()),
                    sum(receivers, receiver -> receiver.footprint().memoryBytes()));
        }
    }

    /// @param countsInterface whether the source's interface counts packets as they go over a wire
    /// @param startNs when the measurement began
    static RoundResult of(
            final SourceReport source,
            final List<ReceiverReport> receivers,
            final boolean countsInterface,
            final long startNs) {
        final Histogram latencies = receivers.getFirst().histogram();
        receivers.stream().skip(1).forEach(receiver -> latencies.add(receiver.histogram()));
        final double deliveredGB = least(receivers, ReceiverReport::bytes) / 1e9;
        final double sourceSeconds = source.cpuNs() / NS_PER_SECOND;
        final double seconds = sourceSeconds + sum(receivers, ReceiverReport::cpuNs) / NS_PER_SECOND;
        final double compileSeconds = (source.compileNs() + sum(receivers, ReceiverReport::compileNs)) / NS_PER_SECOND;
        // An interface counts a batch of datagrams as one packet with one header: then the sender's own
        // count is better.
        final boolean byInterface = countsInterface && source.interfaceBytes() > 0;
        return new RoundResult(
                source.transport(),
                least(receivers, ReceiverReport::goodputMBps),
                least(receivers, ReceiverReport::framesPerSecond),
                (long) sum(receivers, ReceiverReport::lostFrames),
                Statistics.ratio(seconds, deliveredGB),
                Statistics.ratio(sourceSeconds, deliveredGB),
                Statistics.ratio(source.cpuNs() / NS_PER_US, (double) source.frames()),
                Statistics.ratio(compileSeconds, seconds),
                percentile(latencies, 50),
                percentile(latencies, 99),
                percentile(latencies, 99.9),
                overhead(source, source.payloadBytes()),
                overhead(source, byInterface ? source.interfaceBytes() : source.wireBytes()),
                OnHost.of(source, receivers),
                StartWindows.of(receivers, startNs));
    }

    private static double least(final List<ReceiverReport> all, final ToDoubleFunction<ReceiverReport> figure) {
        return all.stream().mapToDouble(figure).min().orElse(NONE);
    }

    private static double sum(final List<ReceiverReport> all, final ToLongFunction<ReceiverReport> figure) {
        return all.stream().mapToLong(figure).sum();
    }

    private static double percentile(final Histogram latencies, final double percent) {
        return latencies.getTotalCount() == 0 ? NONE : latencies.getValueAtPercentile(percent) / NS_PER_US;
    }

    private static double overhead(final SourceReport source, final long bytes) {
        return source.bytes() == 0 || bytes < 0 ? NONE : (double) bytes / source.bytes() - 1;
    }

    String text() {
        return String.format(
                Locale.ROOT,
                "%.0f MB/s, p50 %.2f ms, p99 %.2f ms, %.2f CPU s/GB%s",
                goodputMBps,
                p50Us / 1e3,
                p99Us / 1e3,
                cpuSecondsPerGB,
                lostFrames == 0 ? "" : ", " + lostFrames + " frames lost");
    }

    /// Bytes on the wire per byte of frames.
    public double wireBytesPerByte() {
        return wireOverhead + 1;
    }
}
