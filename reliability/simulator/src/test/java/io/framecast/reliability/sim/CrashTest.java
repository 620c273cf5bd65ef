package io.framecast.reliability.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.sim.plan.FaultMix;
import io.framecast.reliability.sim.plan.FaultMix.Crashes;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.record.SimReport;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// One fault at a time, at a given moment of a quiet run, so its outcome is known exactly. The simulator's
/// checker watches all the while.
final class CrashTest {
    private static final int RECEIVERS = 3;
    private static final int FRAMES = 60;
    private static final int SEEDS = 20;
    private static final long BEGIN_NS = Simulation.QUIET_BEGIN_NS;
    private static final long ALIVE_NS = SimSource.ALIVE_TIMEOUT_NS;
    // Within the stream: it lasts about a millisecond.
    private static final long MID_NS = BEGIN_NS + 300_000;

    private static SimReport run(final long seed, final Simulation.Script script) {
        return clean(Simulation.run(seed, SimOptions.quiet(RECEIVERS, FRAMES), script));
    }

    private static SimReport run(final long seed, final FaultMix mix) {
        // Until the end of all faults, which may be later than that of the stream.
        return clean(Simulation.run(
                seed,
                Variants.with(SimOptions.quiet(8, FRAMES), mix),
                (faults, _, _) -> faults.expect(SimFaults.CALM_NS, () -> {})));
    }

    private static SimReport clean(final SimReport report) {
        assertEquals(List.of(), report.violations(), () -> "seed " + report.seed());
        return report;
    }

    @ParameterizedTest
    @ValueSource(longs = {20_000_000, 200_000_000, 300_000_000})
    void shouldLoseNothingWhenAReceiverStandsStillForLessThanTheAliveTimeout(final long pauseNs) {
        for (long seed = 1; seed <= SEEDS; seed++) {
            final SimReport report = run(
                    seed,
                    (faults, _, hosts) ->
                            faults.expect(MID_NS, () -> hosts.getFirst().pause(MID_NS + pauseNs)));
            assertEquals(1, report.of(SimCount.PAUSES));
            assertEquals(0, report.of(SimCount.EVICTIONS));
            assertEquals(0, report.of(SimCount.REJOINS));
            assertEquals(RECEIVERS * FRAMES, report.of(SimCount.FRAMES));
            assertTrue(report.timeNs() >= MID_NS + pauseNs, () -> "done at " + report.timeNs());
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {500_000_000, 900_000_000, 2_000_000_000})
    void shouldBeEvictedAndJoinAgainWhenAReceiverStandsStillForLonger(final long pauseNs) {
        for (long seed = 1; seed <= SEEDS; seed++) {
            final SimReport report = run(
                    seed,
                    (faults, _, hosts) ->
                            faults.expect(MID_NS, () -> hosts.getFirst().pause(MID_NS + pauseNs)));
            assertEquals(1, report.of(SimCount.EVICTIONS));
            assertEquals(1, report.of(SimCount.REJOINS));
            assertTrue(
                    report.of(SimCount.FRAMES) >= (RECEIVERS - 1) * FRAMES,
                    () -> report.of(SimCount.FRAMES) + " frames");
            assertTrue(report.timeNs() >= MID_NS + pauseNs, () -> "done at " + report.timeNs());
        }
    }

    @Test
    void shouldEvictTheDeadAndAdmitItsSuccessorWhenAReceiverIsKilledSeveralTimes() {
        for (long seed = 1; seed <= SEEDS; seed++) {
            final SimReport report = run(seed, (faults, _, hosts) -> {
                for (int i = 0; i < 3; i++) {
                    final long crashNs = MID_NS + i * 50_000_000L;
                    faults.expect(crashNs, () -> hosts.getFirst().crash());
                    faults.expect(crashNs + 10_000_000, () -> hosts.getFirst().start());
                }
                faults.expect(MID_NS + 3 * ALIVE_NS, () -> {});
            });
            assertEquals(3, report.of(SimCount.CRASHES));
            assertEquals(3, report.of(SimCount.RESTARTS));
            assertEquals(3, report.of(SimCount.EVICTIONS));
            assertEquals(0, report.of(SimCount.REJOINS));
            assertTrue(
                    report.of(SimCount.FRAMES) >= (RECEIVERS - 1) * FRAMES,
                    () -> report.of(SimCount.FRAMES) + " frames");
        }
    }

    @Test
    void shouldGoOnWithinTheAliveTimeoutWhenAReceiverDies() {
        for (long seed = 1; seed <= SEEDS; seed++) {
            final SimReport report = run(
                    seed,
                    (faults, _, hosts) ->
                            faults.expect(MID_NS, () -> hosts.getFirst().retire()));
            assertEquals(1, report.of(SimCount.EVICTIONS));
            final long late = report.reliableNs() - MID_NS - ALIVE_NS;
            assertTrue(late < 50_000_000, () -> "last frame " + late + " ns behind the alive-timeout");
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1_000_000, 300_000_000, 1_500_000_000})
    void shouldDeliverBothSessionsWhenTheSourceIsKilledAndStartedAgain(final long downNs) {
        for (long seed = 1; seed <= SEEDS; seed++) {
            final SimReport report = run(seed, (faults, source, _) -> {
                faults.expect(MID_NS, source::crash);
                faults.expect(MID_NS + downNs, source::start);
            });
            assertEquals(1, report.of(SimCount.CRASHES));
            assertEquals(1, report.of(SimCount.RESTARTS));
            assertEquals(0, report.of(SimCount.EVICTIONS));
            // All of the second session, and part of the first.
            assertTrue(report.of(SimCount.FRAMES) > RECEIVERS * FRAMES, () -> report.of(SimCount.FRAMES) + " frames");
            assertTrue(
                    report.of(SimCount.FRAMES) < 2 * RECEIVERS * FRAMES, () -> report.of(SimCount.FRAMES) + " frames");
        }
    }

    @Test
    void shouldLoseEverybodyAndGetThemBackWhenTheSourceStandsStillForLong() {
        for (long seed = 1; seed <= SEEDS; seed++) {
            final SimReport report =
                    run(seed, (faults, source, _) -> faults.expect(MID_NS, () -> source.pause(MID_NS + 2 * ALIVE_NS)));
            assertEquals(RECEIVERS, report.of(SimCount.REJOINS));
            assertTrue(report.of(SimCount.FRAMES) > 0);
        }
    }

    @Test
    void shouldEvictOnlyWhoseLinksAreClogged() {
        final FaultMix clogs = new FaultMix(0, 0, 1, 0, 0, Crashes.NONE);
        long evicted = 0;
        for (long seed = 1; seed <= 3 * SEEDS; seed++) {
            final SimReport report = run(seed, clogs);
            evicted += report.of(SimCount.EVICTIONS);
            assertTrue(report.of(SimCount.EVICTIONS) == 0 || report.of(SimCount.CLOGS) > 0);
        }
        // Some last longer than the alive-timeout.
        assertTrue(evicted > 3, evicted + " evictions");
    }

    @Test
    void shouldEvictNobodyWhenUsersStallAndClocksDiffer() {
        final FaultMix mix = new FaultMix(0, 0, 0, 1, 1, Crashes.NONE);
        long stalls = 0;
        for (long seed = 1; seed <= 3 * SEEDS; seed++) {
            final SimReport report = run(seed, mix);
            assertEquals(0, report.of(SimCount.EVICTIONS));
            stalls += report.of(SimCount.STALLS);
        }
        assertTrue(stalls > 10, stalls + " stalls");
    }
}
