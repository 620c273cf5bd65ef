package io.framecast.perf.harness;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The links between the processes of a stream.
///
/// @param mtuBytes longest IP packet; 0 for the network's own
/// @param bytesPerSecond that the link of each host carries, each way; 0 for as much as the machine can
public record Links(BenchNet net, int mtuBytes, long bytesPerSecond) {
    /// Whether each process has a host of its own, a network namespace.
    public boolean areOfHosts() {
        return net != BenchNet.LOOPBACK;
    }

    /// The address of a process.
    ///
    /// @param index of a receiver, or [Pool#SOURCE]
    public String address(final int index) {
        return areOfHosts() ? Network.address(index) : Network.LOOPBACK_ADDRESS;
    }

    /// Counts the bytes on the link of this process.
    public LinkMeter meter() {
        return new LinkMeter(areOfHosts());
    }

    /// The share of a link's rate that bytes took; NaN where it has no limit.
    public double share(final long bytes, final double seconds) {
        return bytesPerSecond == 0 ? Double.NaN : bytes / seconds / bytesPerSecond;
    }

    /// The rate in units of 10^6 bytes; null where links have no limit.
    public @Nullable Double megabytesPerSecond() {
        return bytesPerSecond == 0 ? null : bytesPerSecond / 1e6;
    }

    /// Adds them to the head of a report.
    public void describe(final Map<String, @Nullable Object> head) {
        head.put("net", net.label());
        head.put("mtu", mtuBytes == 0 ? null : mtuBytes);
        head.put("net_MBps", megabytesPerSecond());
    }
}
