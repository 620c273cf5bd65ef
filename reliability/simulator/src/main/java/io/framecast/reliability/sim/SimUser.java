package io.framecast.reliability.sim;

import io.framecast.reliability.membership.MembershipMachine.Terms;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.wire.Delivery;
import java.util.random.RandomGenerator;

/// The program on a receiver's host, whichever process runs it: its delivery policy, the time it keeps frames,
/// and the sources that it follows.
final class SimUser {
    private static final long SLOW_NS = 20_000_000;
    private static final long QUICK_NS = 100_000;
    private static final int SOURCES_MAX = 4;
    // Longer than any run.
    private static final int REJOIN_MS = 100_000;
    private static final int REJOIN_MAX_MS = 4_000;

    private final Delivery delivery;
    private final long keepMaxNs;
    private final long dwellNs;
    private final Terms terms;
    private long stalledUntilNs;

    SimUser(final SimOptions options, final RandomGenerator random) {
        keepMaxNs = random.nextDouble() < options.faults().unrest() / 2 ? SLOW_NS : QUICK_NS;
        delivery = random.nextDouble() < options.audience().impatient() ? draw(random) : Delivery.RELIABLE;
        dwellNs = delivery.kind() == Delivery.Kind.RELIABLE
                ? 0
                : options.audience().dwellNs();
        // Behind all else, so that a seed draws the same of it as before.
        terms = options.faults().isNone() || options.audience().hostGroup() > 1
                ? new Terms(SOURCES_MAX, REJOIN_MS, false)
                : drawTerms(random);
    }

    // A subscriber of one source ends with it.
    private static Terms drawTerms(final RandomGenerator random) {
        final int sources = 1 + random.nextInt(SOURCES_MAX);
        return new Terms(sources, sources == 1 ? 1 + random.nextInt(REJOIN_MAX_MS) : REJOIN_MS, false);
    }

    /// How many sources it follows, and how long it waits for a lost one.
    Terms terms() {
        return terms;
    }

    private static Delivery draw(final RandomGenerator random) {
        return switch (random.nextInt(3)) {
            case 0 -> Delivery.deadline(1 + random.nextInt(60));
            case 1 -> Delivery.LATEST;
            default -> Delivery.evict(1 + random.nextInt(60));
        };
    }

    Delivery delivery() {
        return delivery;
    }

    /// Frames taken from now on are kept until then at least, by the true clock.
    void stall(final long untilNs) {
        stalledUntilNs = Math.max(stalledUntilNs, untilNs);
    }

    /// The time until which it keeps a frame that it takes now.
    long keepUntilNs(final RandomGenerator random, final long nowNs) {
        final long pauseNs = random.nextInt(4) == 0 ? random.nextLong(keepMaxNs) : 0;
        return Math.max(stalledUntilNs, nowNs + (dwellNs > 0 ? dwellNs : pauseNs));
    }
}
