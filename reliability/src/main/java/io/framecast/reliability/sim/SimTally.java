package io.framecast.reliability.sim;

/// Counters of a run as it goes.
final class SimTally {
    long crashes;
    long restarts;
    long pauses;
    long rejoins;
    long evictions;
    long partitions;
    long clogs;
    long stalls;
    long repairs;
    long fed;
    long setRepairs;
    long reports;
    long failovers;
    long aggregates;
    long sentDatagrams;
    long controlTaken;
    long controlTold;
    long timeouts;
    long givenUp;
    long deliveredBytes;
    long wireBytes;
    long words;
    long written;
    long owned;
    long pulls;
    long setPulls;
    long stalePulls;
    long brokenLinks;

    SimReport.OneSided oneSided() {
        return new SimReport.OneSided(words, written, owned, pulls, setPulls, stalePulls, brokenLinks);
    }

    SimReport.Control control() {
        return new SimReport.Control(sentDatagrams, controlTaken, controlTold, aggregates, reports, setRepairs, fed);
    }

    SimReport.Troubles troubles() {
        final SimReport.Weather weather = new SimReport.Weather(partitions, clogs, stalls);
        return new SimReport.Troubles(crashes, restarts, pauses, rejoins, evictions, failovers, weather);
    }
}
