package io.framecast.reliability.sim.record;

/// Counters of a run as it goes.
public final class SimTally {
    public long crashes;
    public long restarts;
    public long pauses;
    public long rejoins;
    public long evictions;
    public long partitions;
    public long clogs;
    public long stalls;
    public long repairs;
    public long fed;
    public long setRepairs;
    public long reports;
    public long failovers;
    public long aggregates;
    public long sentDatagrams;
    public long controlTaken;
    public long controlTold;
    public long timeouts;
    public long givenUp;
    public long deliveredBytes;
    public long wireBytes;
    public long words;
    public long written;
    public long owned;
    public long pulls;
    public long setPulls;
    public long stalePulls;
    public long brokenLinks;

    public SimReport.OneSided oneSided() {
        return new SimReport.OneSided(words, written, owned, pulls, setPulls, stalePulls, brokenLinks);
    }

    public SimReport.Control control() {
        return new SimReport.Control(sentDatagrams, controlTaken, controlTold, aggregates, reports, setRepairs, fed);
    }

    public SimReport.Troubles troubles() {
        final SimReport.Weather weather = new SimReport.Weather(partitions, clogs, stalls);
        return new SimReport.Troubles(crashes, restarts, pauses, rejoins, evictions, failovers, weather);
    }
}
