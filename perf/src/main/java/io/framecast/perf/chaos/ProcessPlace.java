package io.framecast.perf.chaos;

import io.framecast.engine.metrics.EngineCounter;

/// A subscriber's place: the process that has it now, and the time when another takes it. The run's thread.
final class ProcessPlace {
    private static final long NEVER = Long.MAX_VALUE;
    private static final long BASELINE_NS = 4_000_000_000L;
    private static final long LOOK_NS = 300_000_000;

    private final int index;
    private ChaosProcess process;
    private long startedNs;
    private long restartNs = NEVER;
    private boolean asked;
    private boolean served;
    private boolean servedAtFirst;
    private long lookedNs;

    ProcessPlace(final int index, final ChaosProcess process, final long nowNs) {
        this.index = index;
        this.process = process;
        startedNs = nowNs;
    }

    int index() {
        return index;
    }

    /// The host it is on.
    int host() {
        return index + 1;
    }

    String name() {
        return "subscriber " + index;
    }

    ChaosProcess process() {
        return process;
    }

    long startedNs() {
        return startedNs;
    }

    void take(final ChaosProcess next, final long nowNs) {
        process = next;
        startedNs = nowNs;
        restartNs = NEVER;
        asked = false;
        served = false;
        servedAtFirst = false;
        lookedNs = 0;
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
        final long joinedNs = process.log().joinedNs();
        return !process.isDoomed()
                && !isVacant()
                && process.isAlive()
                && joinedNs != StreamLog.NONE
                && nowNs - joinedNs >= forNs;
    }

    boolean isCoRoot() {
        return process.counter(EngineCounter.SERVED_MEMBERS) > 0;
    }

    /// Whether it became a co-root only after its memory was first asked for: then it holds a copy of the
    /// window more.
    boolean hasBegunToServe() {
        return served && !servedAtFirst;
    }

    /// Looks whether it serves, and asks for its memory once it has settled.
    void tick(final long nowNs) {
        if (nowNs - lookedNs < LOOK_NS || process.isDoomed() || !process.isAlive()) {
            return;
        }
        lookedNs = nowNs;
        served |= isCoRoot();
        if (!asked && isSettled(nowNs, BASELINE_NS)) {
            asked = true;
            servedAtFirst = served;
            process.order(ChaosRole.MEMORY);
        }
    }
}
