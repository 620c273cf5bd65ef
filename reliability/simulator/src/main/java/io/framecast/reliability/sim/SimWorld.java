package io.framecast.reliability.sim;

import io.framecast.reliability.sim.net.SimClock;
import io.framecast.reliability.sim.net.SimEvents;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.record.SimJournal;
import io.framecast.reliability.sim.secure.SecureRun;
import io.framecast.reliability.sim.secure.SimSecurity;
import io.framecast.reliability.wire.StreamInfo.Seal;
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
        @Nullable SecureRun secure,
        List<SimSession> sessions) {
    // Stolen keys are over late in a run.
    private static final long ATTACK_LONGER_NS = 1_000_000_000;

    static SimWorld of(
            final SimOptions options,
            final SplittableRandom random,
            final @Nullable SimSecurity security,
            final long seed) {
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
                security == null
                        ? null
                        : secure(security, new SplittableRandom(~seed), events, journal, network, options),
                new ArrayList<>());
    }

    private static SecureRun secure(
            final SimSecurity security,
            final SplittableRandom random,
            final SimEvents events,
            final SimJournal journal,
            final SimNetwork network,
            final SimOptions options) {
        final SecureRun made = new SecureRun(
                security,
                random,
                events,
                journal,
                options.plant(),
                network.attacked(options.link()),
                SimFaults.endNs(options.faults()) + ATTACK_LONGER_NS);
        network.watchedBy(made.adversary());
        return made;
    }

    /// The seal of the data.
    Seal seal() {
        return secure == null ? Seal.NONE : secure.seal();
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
