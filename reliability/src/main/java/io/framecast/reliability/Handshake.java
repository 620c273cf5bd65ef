package io.framecast.reliability;

/// A receiver's side of JOIN → ADMIT → probe → READY: tokens, and when to ask again. A probe may overtake its
/// ADMIT, for the two take different lanes, so the last one seen is remembered.
///
/// Pure state; one thread.
final class Handshake {
    static final long RETRY_NS = 20_000_000;
    static final long RETRY_MAX_NS = 500_000_000;
    /// Of each step: eight seconds.
    static final int ATTEMPTS_MAX = 20;
    private static final int DOUBLINGS_MAX = 5;

    private int token;
    private int probeToken;
    private boolean probed;
    private int attempts;
    private long dueNs;

    /// The next step begins.
    void restart(final long nowNs) {
        attempts = 0;
        dueNs = nowNs + RETRY_NS;
    }

    void onAdmit(final int admitToken) {
        token = admitToken;
    }

    void onProbe(final int arrivedToken) {
        probeToken = arrivedToken;
        probed = true;
    }

    /// Whether the probe that was announced has arrived.
    boolean isProbed() {
        return probed && probeToken == token;
    }

    int token() {
        return token;
    }

    void onSent(final long nowNs) {
        dueNs = nowNs + Math.min(RETRY_MAX_NS, RETRY_NS << Math.min(attempts, DOUBLINGS_MAX));
        attempts++;
    }

    boolean isExhausted() {
        return attempts >= ATTEMPTS_MAX;
    }

    long dueNs() {
        return dueNs;
    }
}
