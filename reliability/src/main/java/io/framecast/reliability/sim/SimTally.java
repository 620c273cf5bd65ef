package io.framecast.reliability.sim;

/// Counts what befell a run, as it goes.
final class SimTally {
    long crashes;
    long restarts;
    long pauses;
    long rejoins;
    long evictions;
    long partitions;
    long clogs;
    long stalls;
    long sessions;
    long repairs;
    long timeouts;
    long givenUp;
    long deliveredBytes;
    long wireBytes;

    SimReport.Troubles troubles() {
        return new SimReport.Troubles(crashes, restarts, pauses, rejoins, evictions, partitions, clogs, stalls, 0);
    }
}
