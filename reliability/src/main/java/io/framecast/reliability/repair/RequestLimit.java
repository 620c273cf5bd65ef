package io.framecast.reliability.repair;

/// Bounds the sequences that are examined for NACKs at one time of the caller's clock: members repeat requests
/// for further ones.
///
/// Pure state; one thread. Times are nanoseconds since the engine's start.
public final class RequestLimit {
    /// Sequences examined at one time.
    public static final int SEQUENCES_MAX = 16_384;

    private long lastNs = -1;
    private int left;

    /// A NACK came at a time.
    public void onRequest(final long nowNs) {
        if (nowNs != lastNs) {
            lastNs = nowNs;
            left = SEQUENCES_MAX;
        }
    }

    /// Takes one sequence to examine.
    ///
    /// @return false where there were too many at this time
    public boolean take() {
        return left-- > 0;
    }
}
