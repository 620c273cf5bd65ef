package io.framecast.perf.chaos;

/// A subscriber's place: the process that has it now, and the time when another takes it. The run's thread.
final class ProcessPlace {
    private static final long NEVER = Long.MAX_VALUE;
    private final int index;
    private final int host;
    private ChaosProcess process;
    private long restartNs = NEVER;

    ProcessPlace(final int index, final int host, final ChaosProcess process) {
        this.index = index;
        this.host = host;
        this.process = process;
    }

    int index() {
        return index;
    }

    /// The host it is on.
    int host() {
        return host;
    }

    String name() {
        return "subscriber " + index;
    }

    ChaosProcess process() {
        return process;
    }

    void take(final ChaosProcess next) {
        process = next;
        restartNs = NEVER;
    }

    void restartAt(final long atNs) {
        restartNs = atNs;
    }

    boolean isToRestart(final long nowNs) {
        return nowNs >= restartNs;
    }

    boolean isVacant() {
        return restartNs != NEVER;
    }

    /// Whether it has had frames for some time, and nothing has been done to it that ends it.
    boolean isSettled(final long nowNs, final long forNs) {
        return !isVacant() && process.hasSettled(nowNs, forNs);
    }
}
