package io.framecast.perf.bench;

import io.framecast.perf.rivals.ReceiverReport;
import io.framecast.perf.rivals.SourceReport;
import java.util.List;
import org.HdrHistogram.Histogram;

/// What one system did in one round; NaN stands for what is not known.
///
/// @param goodputMBps to the receiver that got least
/// @param cpuSecondsPerGB of all processes, per 10^9 payload bytes delivered to one receiver
/// @param sourceCpuSecondsPerGB of the publisher alone
/// @param p50Us of all receivers' frames
/// @param overhead bytes on the wire, IP and UDP headers included, per payload byte, less 1
/// @param udpOverhead UDP payload of all the source's lanes per payload byte, less 1
/// @param failure why there is nothing, or empty
public record RoundResult(
        String transport,
        double goodputMBps,
        double cpuSecondsPerGB,
        double sourceCpuSecondsPerGB,
        double p50Us,
        double p99Us,
        double p999Us,
        double overhead,
        double udpOverhead,
        long lostFrames,
        String failure) {
    private static final int IP_AND_UDP_BYTES = 28;
    private static final double NS_PER_US = 1e3;

    static RoundResult failed(final String transport, final String failure) {
        final double none = Double.NaN;
        return new RoundResult(transport, none, none, none, none, none, none, none, none, 0, failure);
    }

    /// @param countsInterface whether what the source's interface counted are packets as they go over a wire
    static RoundResult of(
            final SourceReport source, final List<ReceiverReport> receivers, final boolean countsInterface) {
        final Histogram latencies = new Histogram(receivers.getFirst().latencies());
        latencies.reset();
        receivers.forEach(receiver -> latencies.add(receiver.latencies()));
        final boolean any = latencies.getTotalCount() > 0;
        final double deliveredBytes =
                receivers.stream().mapToLong(ReceiverReport::bytes).min().orElse(0);
        final double cpuNs = source.cpuNs()
                + receivers.stream().mapToLong(ReceiverReport::cpuNs).sum();
        return new RoundResult(
                source.transport(),
                receivers.stream()
                        .mapToDouble(ReceiverReport::goodputMBps)
                        .min()
                        .orElse(Double.NaN),
                deliveredBytes == 0 ? Double.NaN : cpuNs / deliveredBytes,
                deliveredBytes == 0 ? Double.NaN : source.cpuNs() / deliveredBytes,
                any ? latencies.getValueAtPercentile(50) / NS_PER_US : Double.NaN,
                any ? latencies.getValueAtPercentile(99) / NS_PER_US : Double.NaN,
                any ? latencies.getValueAtPercentile(99.9) / NS_PER_US : Double.NaN,
                overhead(source, countsInterface),
                source.datagramBytes() < 0 ? Double.NaN : perPayload(source, source.datagramBytes()),
                receivers.stream().mapToLong(ReceiverReport::lostFrames).sum(),
                "");
    }

    // An interface counts a batch of datagrams as one packet with one header: then the sender's own count is better.
    private static double overhead(final SourceReport source, final boolean countsInterface) {
        if (countsInterface && source.interfaceBytes() > 0) {
            return perPayload(source, source.interfaceBytes());
        }
        return source.datagrams() < 0
                ? Double.NaN
                : perPayload(source, source.datagramBytes() + source.datagrams() * IP_AND_UDP_BYTES);
    }

    private static double perPayload(final SourceReport source, final long bytes) {
        return source.bytes() == 0 ? Double.NaN : (double) bytes / source.bytes() - 1;
    }

    public boolean hasFailed() {
        return !failure.isEmpty();
    }
}
