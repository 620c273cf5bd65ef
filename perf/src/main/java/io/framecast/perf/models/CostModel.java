package io.framecast.perf.models;

/// The cost models of broadcasts to GPUs of Chu et al. 2019 ("Exploiting Hardware Multicast and
/// GPUDirect RDMA for Efficient Broadcast"), §3.1, §5.2 and §8, equation by equation. Times in seconds,
/// lengths in bytes, bandwidths in bytes per second; n counts processes, the source among them.
public final class CostModel {
    private CostModel() {}

    /// A step over unicast.
    ///
    /// @param setUpSeconds t_s
    /// @param bandwidth B_G where the network reads the GPU's memory, B_H where it reads the host's
    public record Hop(double setUpSeconds, double bandwidth) {
        public double seconds(final double bytes) {
            return setUpSeconds + bytes / bandwidth;
        }
    }

    /// A datagram to all.
    ///
    /// @param setUpSeconds t_s
    /// @param overheadSeconds what 1/a of eq. 10 is: t_o(n) = ln(n)/a
    /// @param bandwidth B_G or B_H, as with [Hop]
    /// @param payloadBytes U
    public record Multicast(double setUpSeconds, double overheadSeconds, double bandwidth, double payloadBytes) {
        public double seconds(final int processes) {
            return setUpSeconds + overhead(overheadSeconds, processes) + payloadBytes / bandwidth;
        }
    }

    /// Eq. 2: a ring in chunks. With one chunk eq. 1: each hop after the one before it.
    public static double ring(final int processes, final double bytes, final double chunkBytes, final Hop hop) {
        return (bytes / chunkBytes + processes - 2) * hop.seconds(chunkBytes);
    }

    /// Eq. 6: a k-nomial tree in chunks. With one chunk eq. 4.
    public static double knomial(
            final int radix, final int processes, final double bytes, final double chunkBytes, final Hop hop) {
        return bytes / chunkBytes * steps(radix, processes) * hop.seconds(chunkBytes);
    }

    /// Eq. 3, 5 and 8: staged through the source's host memory; of a ring and of a tree (3 and 5) the whole frame
    /// is waited for, of multicast in chunks (8) only the first chunk.
    ///
    /// @param awaitedBytes that are copied before the network begins
    /// @param copyBandwidth B_H2D
    /// @param networkSeconds eq. 1, 4 or 7
    public static double staged(final double awaitedBytes, final double copyBandwidth, final double networkSeconds) {
        return awaitedBytes / copyBandwidth + networkSeconds;
    }

    /// Eq. 7: multicast of what lies in the GPU.
    public static double multicast(final int processes, final double bytes, final Multicast datagram) {
        return bytes / datagram.payloadBytes * datagram.seconds(processes);
    }

    /// Eq. 9: several sources at once.
    ///
    /// @param overlap OP
    /// @param singleSeconds of one broadcast: eq. 8, or that of another scheme
    public static double severalSources(final double overlap, final int sources, final double singleSeconds) {
        return (1 - overlap) * sources * singleSeconds;
    }

    /// Eq. 10: what more receivers cost a datagram.
    ///
    /// @param overheadSeconds 1/a
    public static double overhead(final double overheadSeconds, final int processes) {
        return overheadSeconds * Math.log(processes);
    }

    /// Eq. 10 the other way: 1/a, from what a datagram takes with few processes and with more. Never less
    /// than 0.
    public static double overheadSeconds(
            final int few, final double fewSeconds, final int more, final double moreSeconds) {
        return more == few ? 0 : Math.max(0, (moreSeconds - fewSeconds) / Math.log((double) more / few));
    }

    /// Eq. 11: OP, from the times of one broadcast and of as many at once as there are sources.
    public static double overlap(final int sources, final double singleSeconds, final double severalSeconds) {
        return (sources * singleSeconds - severalSeconds) / (sources * singleSeconds);
    }

    /// A line through points, by least squares.
    ///
    /// @param at0 its value at 0
    public record Line(double at0, double slope) {
        /// @param xs at least two that differ
        public static Line through(final double[] xs, final double[] ys) {
            double meanX = 0;
            double meanY = 0;
            for (int i = 0; i < xs.length; i++) {
                meanX += xs[i] / xs.length;
                meanY += ys[i] / xs.length;
            }
            double xy = 0;
            double xx = 0;
            for (int i = 0; i < xs.length; i++) {
                xy += (xs[i] - meanX) * (ys[i] - meanY);
                xx += (xs[i] - meanX) * (xs[i] - meanX);
            }
            return new Line(meanY - xy / xx * meanX, xy / xx);
        }
    }

    /// ⌈log_k n⌉.
    public static int steps(final int radix, final int processes) {
        int steps = 0;
        for (long reached = 1; reached < processes; reached *= radix) {
            steps++;
        }
        return steps;
    }
}
