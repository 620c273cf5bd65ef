package io.framecast.perf.bench;

import io.framecast.perf.rivals.ReceiverReport;
import io.framecast.perf.rivals.SourceReport;
import java.util.List;
import org.HdrHistogram.Histogram;

/// What one system did in one round; NaN stands for what is not known.
///
/// @param failure why there is nothing, or empty
public record RoundResult(String transport, Flow flow, Cpu cpu, Latency latency, Wire wire, String failure) {
    private static final double NS_PER_US = 1e3;
    private static final double NS_PER_SECOND = 1e9;

    /// What arrived.
    ///
    /// @param goodputMBps to the receiver that got least
    /// @param messagesPerSecond frames to the receiver that got fewest
    public record Flow(double goodputMBps, double messagesPerSecond, long lostFrames) {
        static final Flow NONE = new Flow(Double.NaN, Double.NaN, 0);
    }

    /// What it took.
    ///
    /// @param secondsPerGB of all processes, per 10^9 payload bytes delivered to one receiver
    /// @param sourceSecondsPerGB of the publisher alone
    /// @param sourceUsPerFrame of the publisher alone, in microseconds
    /// @param compilingShare time of the JVMs' compilers, their waits for a core included, per CPU time of all
    public record Cpu(double secondsPerGB, double sourceSecondsPerGB, double sourceUsPerFrame, double compilingShare) {
        static final Cpu NONE = new Cpu(Double.NaN, Double.NaN, Double.NaN, Double.NaN);
    }

    /// From due to in place, the frames of all receivers together.
    public record Latency(double p50Us, double p99Us, double p999Us) {
        static final Latency NONE = new Latency(Double.NaN, Double.NaN, Double.NaN);

        static Latency of(final List<ReceiverReport> receivers) {
            final Histogram all = new Histogram(receivers.getFirst().latencies());
            all.reset();
            receivers.forEach(receiver -> all.add(receiver.latencies()));
            return all.getTotalCount() == 0
                    ? NONE
                    : new Latency(
                            all.getValueAtPercentile(50) / NS_PER_US,
                            all.getValueAtPercentile(99) / NS_PER_US,
                            all.getValueAtPercentile(99.9) / NS_PER_US);
        }
    }

    /// What the source sent.
    ///
    /// @param overhead payload of the datagrams, or of the connections, of all its lanes per byte of frames, less 1
    /// @param wireOverhead the same with the headers of IP and what is above, also the link's where it was counted
    public record Wire(double overhead, double wireOverhead) {
        static final Wire NONE = new Wire(Double.NaN, Double.NaN);

        // An interface counts a batch of datagrams as one packet with one header: then the sender's own count is
        // better.
        static Wire of(final SourceReport source, final boolean countsInterface) {
            final boolean byInterface = countsInterface && source.interfaceBytes() > 0;
            return new Wire(
                    overhead(source, source.payloadBytes()),
                    overhead(source, byInterface ? source.interfaceBytes() : source.wireBytes()));
        }

        private static double overhead(final SourceReport source, final long bytes) {
            return source.bytes() == 0 || bytes < 0 ? Double.NaN : (double) bytes / source.bytes() - 1;
        }
    }

    static RoundResult failed(final String transport, final String failure) {
        return new RoundResult(transport, Flow.NONE, Cpu.NONE, Latency.NONE, Wire.NONE, failure);
    }

    /// @param countsInterface whether what the source's interface counted are packets as they go over a wire
    static RoundResult of(
            final SourceReport source, final List<ReceiverReport> receivers, final boolean countsInterface) {
        return new RoundResult(
                source.transport(),
                new Flow(
                        receivers.stream()
                                .mapToDouble(ReceiverReport::goodputMBps)
                                .min()
                                .orElse(Double.NaN),
                        receivers.stream()
                                .mapToDouble(ReceiverReport::framesPerSecond)
                                .min()
                                .orElse(Double.NaN),
                        receivers.stream().mapToLong(ReceiverReport::lostFrames).sum()),
                cpu(source, receivers),
                Latency.of(receivers),
                Wire.of(source, countsInterface),
                "");
    }

    private static Cpu cpu(final SourceReport source, final List<ReceiverReport> receivers) {
        final double deliveredGB =
                receivers.stream().mapToLong(ReceiverReport::bytes).min().orElse(0) / 1e9;
        final double sourceSeconds = source.cpuNs() / NS_PER_SECOND;
        final double seconds = sourceSeconds
                + receivers.stream().mapToLong(ReceiverReport::cpuNs).sum() / NS_PER_SECOND;
        final double compileSeconds = (source.compileNs()
                        + receivers.stream()
                                .mapToLong(ReceiverReport::compileNs)
                                .sum())
                / NS_PER_SECOND;
        return new Cpu(
                Statistics.ratio(seconds, deliveredGB),
                Statistics.ratio(sourceSeconds, deliveredGB),
                Statistics.ratio(source.cpuNs() / NS_PER_US, (double) source.frames()),
                Statistics.ratio(compileSeconds, seconds));
    }

    public boolean hasFailed() {
        return !failure.isEmpty();
    }

    public double goodputMBps() {
        return flow.goodputMBps;
    }

    public double messagesPerSecond() {
        return flow.messagesPerSecond;
    }

    public long lostFrames() {
        return flow.lostFrames;
    }

    public double cpuSecondsPerGB() {
        return cpu.secondsPerGB;
    }

    public double sourceCpuSecondsPerGB() {
        return cpu.sourceSecondsPerGB;
    }

    public double sourceCpuUsPerFrame() {
        return cpu.sourceUsPerFrame;
    }

    public double compilingShare() {
        return cpu.compilingShare;
    }

    public double p50Us() {
        return latency.p50Us;
    }

    public double p99Us() {
        return latency.p99Us;
    }

    public double p999Us() {
        return latency.p999Us;
    }

    public double overhead() {
        return wire.overhead;
    }

    public double wireOverhead() {
        return wire.wireOverhead;
    }

    /// Bytes on the wire per byte of frames.
    public double wireBytesPerByte() {
        return wire.wireOverhead + 1;
    }
}
