package io.framecast.reliability.sim.secure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.sim.Simulation;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.plan.Swarm;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.record.SimReport;
import io.framecast.reliability.wire.StreamInfo;
import java.util.List;
import java.util.function.LongFunction;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Protected streams in the simulator, with an attacker in the network that replays and forges.
final class SimulatedAuthTest {
    private static final int PLANT_SEEDS_MAX = 60;

    private static SimReport run(final long seed, final Swarm swarm) {
        return Simulation.run(seed, swarm, SimulatedAuth.of(seed, swarm));
    }

    @Test
    void shouldTakeNothingButWhatHonestEndsSealedWhenSomebodyAttacks() {
        attack(15);
    }

    @Tag("campaign")
    @Test
    void shouldTakeNothingButWhatHonestEndsSealedWhenSomebodyAttacksInManyRuns() {
        attack(60);
    }

    private static void attack(final long seeds) {
        long attacks = 0;
        long abuses = 0;
        long frames = 0;
        for (long seed = 1; seed <= seeds; seed++) {
            final Swarm swarm = Swarm.of(1 + (int) (seed % 5), -1);
            final SimReport report = run(seed, seed % 2 == 0 ? swarm : swarm.withCrashes());
            assertEquals(List.of(), report.violations(), "seed " + seed);
            attacks += report.of(SimCount.ATTACKS);
            abuses += report.of(SimCount.ABUSES);
            frames += report.of(SimCount.FRAMES);
        }
        assertTrue(attacks > 16 * seeds, attacks + " attacks");
        assertTrue(abuses > 0, "no key that was over was used");
        assertTrue(frames > 16 * seeds, frames + " frames");
    }

    @Test
    void shouldGoOnWithAMembershipWhenALeaderDiesUnderAttack() {
        killLeaders(12);
    }

    @Tag("campaign")
    @Test
    void shouldGoOnWithAMembershipWhenALeaderDiesUnderAttackInManyRuns() {
        killLeaders(40);
    }

    private static void killLeaders(final long seeds) {
        final Swarm swarm = Swarm.of(3, -1).withHostGroup(4).withCrashes();
        long takeovers = 0;
        long abuses = 0;
        for (long seed = 1; seed <= seeds; seed++) {
            final SimReport report = run(seed, swarm);
            assertEquals(List.of(), report.violations(), "seed " + seed);
            takeovers += report.of(SimCount.TAKEOVERS);
            abuses += report.of(SimCount.ABUSES);
        }
        assertTrue(takeovers > seeds / 2, takeovers + " takeovers");
        assertTrue(abuses > 0, "no key that was over was used");
    }

    /// In run 15 an RC_CONNECT came late, from a member that was no co-root.
    @Test
    void shouldReadFromItsSourceWhatHonestEndsSealed() {
        read(LongStream.of(1, 2, 3, 4, 15));
    }

    @Tag("campaign")
    @Test
    void shouldReadFromItsSourceWhatHonestEndsSealedInManyRuns() {
        read(LongStream.rangeClosed(1, 20));
    }

    private static void read(final LongStream seeds) {
        seeds.forEach(seed -> {
            final Swarm swarm = Swarm.of(4, -1);
            final Swarm shape = seed % 2 == 0 ? swarm.withOneSided().withCrashes() : swarm.withDirect();
            assertEquals(List.of(), run(seed, shape).violations(), "seed " + seed);
        });
    }

    /// The adversary makes one longer, which must not be decrypted into the slot behind.
    @Test
    void shouldOpenNoDatagramThatIsLongerThanItsSlot() {
        assertEquals(List.of(), run(37, Swarm.of(4, -1)).violations());
    }

    /// Probes waited in the transport behind data: a heartbeat then named an earlier end of an epoch. Keys that
    /// were never used were taken for those before, by a receiver that had missed KEYS (15205).
    @ParameterizedTest
    @ValueSource(longs = {5086, 6541, 15205})
    void shouldOpenRepairsOfTheEpochBefore(final long seed) {
        assertEquals(List.of(), run(seed, Swarm.of(4, -1)).violations());
    }

    /// Two receivers missed the KEYS of an epoch that came into use, and then got those of the next epochs alone.
    @Test
    void shouldGetTheKeysInUseBeforeThoseThatFollow() {
        final Swarm swarm = Swarm.of(4, -1).withCrashes().withOneSided();
        assertEquals(List.of(), run(77_000_186, swarm).violations());
    }

    /// A leader that stood still leads again, and waits for keys: its followers know only what it shared before.
    @Test
    void shouldWaitForAProcessThatLeadsAgain() {
        final Swarm swarm = Swarm.of(3, -1).withHostGroup(4).withCrashes();
        assertEquals(List.of(), run(267_351_991, swarm).violations());
    }

    /// A receiver lacks one datagram that its source has freed, and the source does not answer it any more.
    @Test
    void shouldEndWhereItsSourceDoesNotHoldWhatItLacks() {
        final Swarm swarm = Swarm.of(4, -1).withCrashes().withOneSided();
        assertEquals(List.of(), run(77_000_858, swarm).violations());
    }

    @Test
    void shouldRepeatItselfWhenTheSeedIsTheSame() {
        for (long seed = 1; seed <= 5; seed++) {
            final Swarm swarm = Swarm.of(3, 0.05).withCrashes();
            assertEquals(run(seed, swarm), run(seed, swarm));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NONCE_REUSED", "REPLAY_WINDOW_OFF_BY_ONE", "REPAIR_TAG_UNCHECKED", "OLD_EPOCH_ACCEPTED"})
    void shouldFindThePlantWhenTheProtectionIsBroken(final Plant plant) {
        final Swarm swarm = Swarm.of(4, 0.05).withCrashes().withPlant(plant);
        find(plant, seed -> run(seed, swarm));
    }

    /// Only a repair of the bundle has bytes that were written behind its sealing. So all runs have a cipher, and
    /// lose much.
    @Test
    void shouldFindAClaimThatIsEncryptedWhileItIsWritten() {
        final SimSecurity security = new SimulatedAuth(StreamInfo.Seal.AES_GCM);
        final Swarm swarm = Swarm.of(6, 0.2).withCrashes().withPlant(Plant.ENCRYPT_OPEN_CLAIM);
        find(Plant.ENCRYPT_OPEN_CLAIM, seed -> Simulation.run(seed, swarm, security));
    }

    private static void find(final Plant plant, final LongFunction<SimReport> runs) {
        boolean found = false;
        for (long seed = 1; seed <= PLANT_SEEDS_MAX && !found; seed++) {
            found = !runs.apply(seed).isClean();
        }
        assertTrue(found, plant.label());
    }
}
