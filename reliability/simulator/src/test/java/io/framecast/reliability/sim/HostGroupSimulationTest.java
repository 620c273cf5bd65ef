package io.framecast.reliability.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.sim.plan.LinkSpec;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.plan.Swarm;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.record.SimReport;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Hosts of several processes that share one membership.
@Execution(ExecutionMode.CONCURRENT)
final class HostGroupSimulationTest {
    private static final int PLANT_SEEDS_MAX = 120;
    private static final Swarm HOSTS = Swarm.of(3, -1).withHostGroup(4).withCrashes();
    private static final SimOptions QUIET = SimOptions.quiet(1, 40)
            .withFrames(64 * 20, 64, 64)
            .withLink(LinkSpec.lossy(0.02))
            .withHostGroup(3);
    private static final long MIDST_NS = Simulation.QUIET_BEGIN_NS + 200_000;

    private static SimReport clean(final SimReport report) {
        assertEquals(List.of(), report.violations(), () -> "seed " + report.seed());
        return report;
    }

    @Test
    void shouldKeepEveryPromiseWhenLeadersCrash() {
        long takeovers = 0;
        for (long seed = 1; seed <= 60; seed++) {
            takeovers += clean(Simulation.run(seed, HOSTS)).of(SimCount.TAKEOVERS);
        }
        assertTrue(takeovers > 60, takeovers + " takeovers");
    }

    @Test
    void shouldLeaveAMembershipToThoseWhoFollowedWhenANewcomerCouldLeadFirst() {
        // A newcomer follows a successor that dies before its segment counts.
        clean(Simulation.run(101_400_214, HOSTS));
    }

    @Test
    void shouldTakeAnAnswerToAReportOfPoliciesForASignOfLife() {
        clean(Simulation.run(125, HOSTS));
    }

    /// The leader joined under a policy that drops, and is a member no more while it stands for reliable members.
    @Test
    void shouldGiveUpNothingForReliableMembersThatTheSourceFreed() {
        clean(Simulation.run(576, HOSTS.withMixed()));
    }

    /// The newest session fails before a member has its segment.
    @Test
    void shouldFollowALeaderThatWorksThoughItsNewestSegmentCameToNobody() {
        clean(Simulation.run(5_623, HOSTS));
    }

    /// A co-root gets by unicast what follows datagrams that still wait for the data lane, and requests these.
    @Test
    void shouldTakeForLateWhatTheSourcesLaneHeldBack() {
        clean(Simulation.run(59_056_504, HOSTS));
    }

    @Tag("campaign")
    @Test
    void shouldKeepEveryPromiseWhenLeadersCrashInManyRuns() {
        for (long seed = 1_000; seed < 1_300; seed++) {
            clean(Simulation.run(seed, HOSTS));
            clean(Simulation.run(seed, HOSTS.withOneSided()));
        }
    }

    /// They read lost datagrams from their source's window, and write their credit there.
    @Test
    void shouldKeepEveryPromiseWhenLeadersThatActOnTheirSourcesMemoryCrash() {
        long takeovers = 0;
        long reads = 0;
        for (long seed = 1; seed <= 60; seed++) {
            final SimReport report = clean(Simulation.run(seed, HOSTS.withOneSided()));
            takeovers += report.of(SimCount.TAKEOVERS);
            reads += report.of(SimCount.PULLS);
        }
        assertTrue(takeovers > 60, takeovers + " takeovers");
        assertTrue(reads > 60, reads + " reads");
        // A leader dies between a credit that it wrote and one that its source had.
        clean(Simulation.run(1_839, HOSTS.withOneSided()));
    }

    @Test
    void shouldRepeatItselfWhenTheSeedIsTheSame() {
        for (long seed = 1; seed <= 8; seed++) {
            assertEquals(Simulation.run(seed, HOSTS), Simulation.run(seed, HOSTS));
        }
    }

    /// Members under `latest` and `deadline=…` copy frames that their leader may write again; where none is waited for,
    /// the source does not wait for the leader either.
    @Test
    void shouldKeepEveryPromiseWhenMembersHavePoliciesOfTheirOwn() {
        mix(1, 60);
    }

    @Tag("campaign")
    @Test
    void shouldKeepEveryPromiseWhenMembersHavePoliciesOfTheirOwnInManyRuns() {
        mix(1_000, 300);
    }

    private static void mix(final long first, final long seeds) {
        long takeovers = 0;
        long givenUp = 0;
        long torn = 0;
        for (long seed = first; seed < first + seeds; seed++) {
            final SimReport report = clean(Simulation.run(seed, HOSTS.withMixed()));
            takeovers += report.of(SimCount.TAKEOVERS);
            givenUp += report.of(SimCount.GIVEN_UP);
            torn += report.of(SimCount.TORN_COPIES);
        }
        assertTrue(takeovers > seeds / 2, takeovers + " takeovers");
        assertTrue(givenUp > seeds, givenUp + " frames given up");
        assertTrue(torn > 0, "no copy was torn");
    }

    @Test
    void shouldFindAMemberThatGivesTornCopies() {
        final Swarm swarm =
                Swarm.of(4, 0.05).withHostGroup(4).withCrashes().withMixed().withPlant(Plant.GIVE_TORN_COPY);
        boolean found = false;
        for (long seed = 1; seed <= PLANT_SEEDS_MAX && !found; seed++) {
            found = !Simulation.run(seed, swarm).isClean();
        }
        assertTrue(found, Plant.GIVE_TORN_COPY.label());
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.INCLUDE,
            names = {
                "RELEASE_CURSOR_EARLY",
                "TAKE_OVER_LATE",
                "ACKNOWLEDGE_BEFORE_LOG",
                "ACCEPT_TORN_ENTRY",
                "INHERIT_CO_ROOT",
                "CLAIM_EARLY",
                "RESUME_ALONE"
            })
    void shouldFindThePlantWhenAHostGroupIsBroken(final Plant plant) {
        final Swarm swarm = Swarm.of(4, 0.05).withHostGroup(4).withCrashes().withPlant(plant);
        boolean found = false;
        for (long seed = 1; seed <= PLANT_SEEDS_MAX && !found; seed++) {
            found = !Simulation.run(seed, swarm).isClean();
        }
        assertTrue(found, plant.label());
    }

    @Test
    void shouldGiveEveryFrameToEachOfAHost() {
        final SimReport report = clean(Simulation.run(1, QUIET));
        assertEquals(3 * 40, report.of(SimCount.FRAMES));
        assertEquals(0, report.of(SimCount.TAKEOVERS));
    }

    /// Two of three leaders in a row.
    @Test
    void shouldLoseNothingWhenLeadersDie() {
        for (long seed = 1; seed <= 20; seed++) {
            final SimReport report = clean(Simulation.run(seed, QUIET, (faults, _, hosts) -> {
                faults.expect(MIDST_NS, () -> retireLeader(hosts));
                faults.expect(MIDST_NS + 2_000_000, () -> retireLeader(hosts));
            }));
            assertEquals(2, report.of(SimCount.TAKEOVERS), () -> "seed " + report.seed());
            assertEquals(0, report.of(SimCount.EVICTIONS), () -> "seed " + report.seed());
        }
    }

    /// It goes on where it stood, beside its successor.
    @Test
    void shouldLoseNothingWhenALeaderStandsStill() {
        for (long seed = 1; seed <= 20; seed++) {
            final SimReport report = clean(Simulation.run(
                    seed,
                    QUIET,
                    (faults, _, hosts) ->
                            faults.expect(MIDST_NS, () -> leader(hosts).pause(MIDST_NS + 300_000_000))));
            assertEquals(1, report.of(SimCount.TAKEOVERS), () -> "seed " + report.seed());
            assertEquals(0, report.of(SimCount.EVICTIONS), () -> "seed " + report.seed());
        }
    }

    /// The leader wakes between the claim of its successor and that one's RESUME, and has datagrams to
    /// acknowledge.
    @Test
    void shouldFindASuccessorThatDoesNotFenceItsLeader() {
        long violations = 0;
        // Followers leave it after 80 ms, and the first one of them sends RESUME within a millisecond.
        for (long seed = 0; seed < 60; seed++) {
            final long pauseNs = 80_000_000 + seed * 20_000;
            clean(pauseLeader(seed, QUIET, pauseNs));
            violations += pauseLeader(seed, QUIET.withPlant(Plant.LEAVE_UNFENCED), pauseNs)
                    .violations()
                    .size();
        }
        assertTrue(violations > 0, "no leader was found that reports what its successor lacks");
    }

    private static SimReport pauseLeader(final long seed, final SimOptions options, final long pauseNs) {
        return Simulation.run(
                seed,
                options,
                (faults, _, hosts) ->
                        faults.expect(MIDST_NS, () -> leader(hosts).pause(MIDST_NS + pauseNs)));
    }

    private static void retireLeader(final List<SimHost> hosts) {
        leader(hosts).retire();
    }

    private static SimHost leader(final List<SimHost> hosts) {
        return hosts.stream()
                .filter(host -> host.process() != null && host.listens())
                .findFirst()
                .orElseThrow();
    }
}
