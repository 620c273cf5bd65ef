package io.framecast.reliability.sim;

import io.framecast.reliability.sim.net.SimClock;
import io.framecast.reliability.sim.net.SimEvents;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.record.SimJournal;
import io.framecast.reliability.sim.record.SimTally;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/// The state that a run's parts share.
final class SimWorld {
    private final SimOptions options;
    private final SplittableRandom random;
    private final SimEvents events = new SimEvents();
    private final SimNetwork network = new SimNetwork();
    private final SimJournal journal = new SimJournal();
    private final SimTally tally = new SimTally();
    private final SimArchive archive;
    private final SimTail tail;
    private final List<SimSession> sessions = new ArrayList<>();
    private final SimFabric fabric = new SimFabric();

    SimWorld(final SimOptions options, final SplittableRandom random) {
        this.options = options;
        this.random = random;
        archive = new SimArchive(this, random.split());
        tail = new SimTail(options.link().delayNs());
    }

    SimOptions options() {
        return options;
    }

    SplittableRandom random() {
        return random;
    }

    SimEvents events() {
        return events;
    }

    SimNetwork network() {
        return network;
    }

    SimJournal journal() {
        return journal;
    }

    SimTally tally() {
        return tally;
    }

    SimTail tail() {
        return tail;
    }

    SimArchive archive() {
        return archive;
    }

    SimFabric fabric() {
        return fabric;
    }

    /// Begins another life of the source.
    SimSession open(final SimClock clock, final long epochOffsetNs) {
        final SimSession made = SimSession.after(sessions.isEmpty() ? null : sessions.getLast(), random, options);
        made.clock(clock, epochOffsetNs);
        sessions.add(made);
        return made;
    }

    /// All lives of the source so far, oldest first.
    List<SimSession> sessions() {
        return sessions;
    }

    SimSession newest() {
        return sessions.getLast();
    }

    /// The session of a nonce, or null where the source never had it.
    @Nullable
    SimSession session(final long nonce) {
        for (final SimSession session : sessions) {
            if (session.nonce() == nonce) {
                return session;
            }
        }
        return null;
    }

    void violation(final String text) {
        journal.violation(events.nowNs(), text);
    }
}
