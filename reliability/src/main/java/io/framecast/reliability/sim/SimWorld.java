package io.framecast.reliability.sim;

import io.framecast.reliability.sim.net.SimClock;
import io.framecast.reliability.sim.net.SimEvents;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.record.SimJournal;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/// The state that a run's parts share.
///
/// @param sessions all lives of the source so far, oldest first
record SimWorld(
        SimOptions options,
        SplittableRandom random,
        SimEvents events,
        SimJournal journal,
        SimNetwork network,
        SimArchive archive,
        SimTail tail,
        SimFabric fabric,
        List<SimSession> sessions) {
    static SimWorld of(final SimOptions options, final SplittableRandom random) {
        final SimEvents events = new SimEvents();
        final SimNetwork network = new SimNetwork();
        final SimJournal journal = new SimJournal();
        final boolean restarts = options.faults().crashes().isAny();
        return new SimWorld(
                options,
                random,
                events,
                journal,
                network,
                new SimArchive(events, journal, network, random.split(), restarts),
                new SimTail(options.link().delayNs()),
                new SimFabric(),
                new ArrayList<>());
    }

    /// The injected bug.
    Plant plant() {
        return options.plant();
    }

    /// Begins another life of the source.
    SimSession open(final SimClock clock, final long epochOffsetNs) {
        final SimSession before = sessions.isEmpty() ? null : sessions.getLast();
        sessions.add(SimSession.after(before, random, options, clock, epochOffsetNs));
        return newest();
    }

    SimSession newest() {
        return sessions.getLast();
    }

    /// The session of a nonce, or null where the source never had it.
    @Nullable
    SimSession session(final long nonce) {
        return sessions.stream()
                .filter(session -> session.nonce() == nonce)
                .findFirst()
                .orElse(null);
    }

    void count(final SimCount what) {
        journal.count(what, 1);
    }

    void violation(final String text) {
        journal.violation(events.nowNs(), text);
    }
}
