package io.framecast.reliability.sim.plan;

import java.util.random.RandomGenerator;

/// The amount of each kind of fault in a run, besides the faults of links on single datagrams. A weight is 0:
/// none of it, … 1: wild. Each kind is drawn by itself. So some runs have only few kinds, and find errors that a
/// mixture would hide.
///
/// @param unrest late joiners, leavers, deaths, slow consumers, ghosts of other sessions, refused repairs, links
///     that differ
/// @param partitions links that pass nothing for a while: one direction or both, one receiver, some or all
/// @param clogs links that hold all datagrams back for a while, also for longer than the alive-timeout
/// @param stalls users that keep their frames for long
/// @param skew clocks that begin anywhere and run fast or slow
/// @param crashes processes that die, come back, or stand still
public record FaultMix(double unrest, double partitions, double clogs, double stalls, double skew, Crashes crashes) {
    /// Processes that die, come back, or stand still.
    ///
    /// @param receivers killed without notice and started again
    /// @param source killed and started again with a new session
    /// @param pauses processes of any role stopped and continued, sooner or later than the alive-timeout
    public record Crashes(double receivers, double source, double pauses) {
        public static final Crashes NONE = new Crashes(0, 0, 0);

        public boolean isAny() {
            return receivers > 0 || source > 0 || pauses > 0;
        }
    }

    public static final FaultMix NONE = new FaultMix(0, 0, 0, 0, 0, Crashes.NONE);

    public boolean isNone() {
        return equals(NONE);
    }

    /// Draws each kind: absent, mild or wild.
    static FaultMix draw(final RandomGenerator random, final boolean crashes) {
        final double unrest = weight(random);
        return new FaultMix(
                unrest,
                weight(random),
                weight(random),
                weight(random),
                weight(random),
                crashes ? drawCrashes(random) : Crashes.NONE);
    }

    // Never all absent: a caller that asks for crashes wants some.
    private static Crashes drawCrashes(final RandomGenerator random) {
        final Crashes drawn = new Crashes(weight(random), weight(random), weight(random));
        return drawn.isAny() ? drawn : new Crashes(0.5, 0.5, 0.5);
    }

    private static double weight(final RandomGenerator random) {
        return random.nextInt(3) / 2.0;
    }
}
