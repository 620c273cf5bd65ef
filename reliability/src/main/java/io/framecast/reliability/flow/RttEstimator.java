package io.framecast.reliability.flow;

/// Smoothed round-trip time and its deviation (RFC 6298 §2: α = 1/8, β = 1/4). Pure state; one thread.
public final class RttEstimator {
    /// Before the first measurement.
    public static final long INITIAL_NS = 2_000_000;
    private static final long SAMPLE_MAX_NS = 10_000_000_000L;

    private long smoothedNs;
    private long deviationNs;

    /// Takes a measurement; impossible ones are ignored.
    public void onSample(final long rttNs) {
        if (rttNs < 0 || rttNs > SAMPLE_MAX_NS) {
            return;
        }
        if (smoothedNs == 0) {
            smoothedNs = Math.max(1, rttNs);
            deviationNs = rttNs / 2;
            return;
        }
        deviationNs += (Math.abs(smoothedNs - rttNs) - deviationNs) / 4;
        smoothedNs = Math.max(1, smoothedNs + (rttNs - smoothedNs) / 8);
    }

    public long smoothedNs() {
        return smoothedNs == 0 ? INITIAL_NS : smoothedNs;
    }

    /// RFC 6298 (2.3): SRTT + 4 · RTTVAR.
    public long timeoutNs() {
        return smoothedNs == 0 ? 2 * INITIAL_NS : smoothedNs + 4 * deviationNs;
    }

    public void reset() {
        smoothedNs = 0;
        deviationNs = 0;
    }
}
