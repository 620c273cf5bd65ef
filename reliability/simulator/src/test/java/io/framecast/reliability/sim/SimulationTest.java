package io.framecast.reliability.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.sim.plan.FaultMix;
import io.framecast.reliability.sim.plan.LinkSpec;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.plan.SimOptions;
import io.framecast.reliability.sim.plan.Swarm;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.record.SimReport;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Execution(ExecutionMode.CONCURRENT)
final class SimulationTest {
    private static final int PLANT_SEEDS_MAX = 120;
    private static final int MEAN_SEEDS = 8;

    private static void assertClean(final SimReport report) {
        assertEquals(List.of(), report.violations(), () -> "seed " + report.seed());
    }

    @Test
    void shouldKeepEveryPromiseWhenFaultsAreDrawnFromTheSeed() {
        draw(100);
    }

    @Tag("campaign")
    @Test
    void shouldKeepEveryPromiseWhenFaultsAreDrawnFromTheSeedInManyRuns() {
        draw(200);
    }

    private static void draw(final long seeds) {
        seeds(seeds)
                .mapToObj(seed -> Simulation.run(seed, Swarm.of(1 + (int) (seed % 9), -1)))
                .forEach(SimulationTest::assertClean);
    }

    // -Dsim.seed=N adds one. CI has a stage of its own for seeds that follow from the commit.
    private static LongStream seeds(final long count) {
        return LongStream.concat(LongStream.rangeClosed(1, count), LongStream.of(Long.getLong("sim.seed", 1_000_000)));
    }

    @Test
    void shouldKeepEveryPromiseWhenProcessesCrash() {
        crash(100);
    }

    @Tag("campaign")
    @Test
    void shouldKeepEveryPromiseWhenProcessesCrashInManyRuns() {
        crash(300);
    }

    private static void crash(final long seeds) {
        seeds(seeds)
                .mapToObj(seed ->
                        Simulation.run(seed, Swarm.of(1 + (int) (seed % 9), -1).withCrashes()))
                .forEach(SimulationTest::assertClean);
    }

    /// Rings that are filled in order of arrival leave out slots before their end where frames have one length.
    @Test
    void shouldKeepEveryPromiseWhereFramesHaveOneLengthAndArriveInOrder() {
        haveOneLength(40);
    }

    @Tag("campaign")
    @Test
    void shouldKeepEveryPromiseWhereFramesHaveOneLengthAndArriveInOrderInManyRuns() {
        haveOneLength(150);
    }

    private static void haveOneLength(final long seeds) {
        for (long seed = 1; seed <= seeds; seed++) {
            final SimOptions options = SimOptions.draw(
                            new SplittableRandom(seed),
                            Swarm.of(1 + (int) (seed % 9), -1).withCrashes())
                    .withFrames(1 + seed * 977 % 4000, 64, 64)
                    .withFlow(8 + (int) (seed * 31 % 60), 1 + (int) (seed % 3), 1);
            assertClean(Simulation.run(seed, options));
        }
    }

    @Test
    void shouldKeepEveryPromiseWhenTwentyReceiversLoseFivePercent() {
        for (long seed = 1; seed <= 10; seed++) {
            assertClean(Simulation.run(seed, Swarm.of(20, 0.05)));
        }
    }

    @Test
    void shouldKeepEveryPromiseWhenMostDatagramsAreLost() {
        for (long seed = 1; seed <= 20; seed++) {
            assertClean(Simulation.run(seed, Swarm.of(2, 0.4)));
        }
    }

    @Test
    void shouldRepeatItselfWhenTheSeedIsTheSame() {
        for (long seed = 1; seed <= 20; seed++) {
            final Swarm swarm = Swarm.of(5, -1).withCrashes();
            assertEquals(Simulation.run(seed, swarm), Simulation.run(seed, swarm));
        }
    }

    @Test
    void shouldDifferWhenTheSeedDiffers() {
        assertNotEquals(
                Simulation.run(1, Swarm.of(5, 0.05)).digest(),
                Simulation.run(2, Swarm.of(5, 0.05)).digest());
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {
                "NONE",
                // HostGroupSimulationTest has these.
                "RELEASE_CURSOR_EARLY",
                "TAKE_OVER_LATE",
                "ACKNOWLEDGE_BEFORE_LOG",
                "ACCEPT_TORN_ENTRY",
                "INHERIT_CO_ROOT",
                "CLAIM_EARLY",
                "LEAVE_UNFENCED",
                "RESUME_ALONE",
                "GIVE_TORN_COPY",
                // These need an adversary.
                "NONCE_REUSED",
                "REPLAY_WINDOW_OFF_BY_ONE",
                "REPAIR_TAG_UNCHECKED",
                "OLD_EPOCH_ACCEPTED",
                "ENCRYPT_OPEN_CLAIM"
            })
    void shouldFindThePlantWhenTheProtocolIsBroken(final Plant plant) {
        final Swarm crashes = Swarm.of(8, 0.05).withCrashes();
        final Swarm swarm =
                plant == Plant.TRUST_HEADERS || plant == Plant.REUSE_FED_SLOT ? crashes.withOneSided() : crashes;

        boolean found = false;
        for (long seed = 1; seed <= PLANT_SEEDS_MAX && !found; seed++) {
            found = !Simulation.run(seed, swarm.withPlant(plant)).isClean();
        }
        assertTrue(found, plant.label());
    }

    @ParameterizedTest
    @CsvSource({
        // bytes, slot bytes, window slots, frames
        "1, 64, 16, 200",
        "64, 64, 16, 200",
        "65, 64, 16, 200",
        "6220800, 8192, 1024, 6",
        "6220800, 1408, 1024, 3",
        "10000000, 65472, 128, 2",
        "100000, 64, 16, 5",
    })
    void shouldDeliverFramesOfAnyLengthWhenPlacedEitherWay(
            final long bytes, final int slotBytes, final int window, final int frames) {
        place(bytes, slotBytes, window, frames);
    }

    @Tag("campaign")
    @ParameterizedTest
    @CsvSource({"32000000, 65472, 128, 2", "128000000, 65472, 512, 2", "128000000, 8192, 2048, 2"})
    void shouldDeliverLargeFramesWhenPlacedEitherWay(
            final long bytes, final int slotBytes, final int window, final int frames) {
        place(bytes, slotBytes, window, frames);
    }

    private static void place(final long bytes, final int slotBytes, final int window, final int frames) {
        for (int fifo = 0; fifo <= 1; fifo++) {
            final SimOptions options = SimOptions.quiet(1, frames)
                    .withFrames(bytes, slotBytes, window)
                    .withFlow(256, 1, fifo)
                    .withLink(LinkSpec.lossy(0.01));
            final SimReport report = Simulation.run(7, options);
            assertClean(report);
            assertEquals(frames, report.of(SimCount.FRAMES));
            assertEquals(frames * bytes, report.of(SimCount.DELIVERED_BYTES));
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 1})
    void shouldWrapTheRingManyTimesWhenFramesDoNotDivideIt(final double fifo) {
        for (long seed = 1; seed <= 20; seed++) {
            final SimOptions options = SimOptions.quiet(2, 300)
                    .withFrames(64 * 7 + 3, 64, 16)
                    .withFlow(8, 1, fifo)
                    .withLink(LinkSpec.lossy(0.02));
            final SimReport report = Simulation.run(seed, options);
            assertClean(report);
            assertEquals(600, report.of(SimCount.FRAMES));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldNotStallWhenGrantsAreTiny(final int capacity) {
        for (long seed = 1; seed <= 20; seed++) {
            final SimOptions options = SimOptions.quiet(3, 40)
                    .withFlow(capacity, 1, 0.5)
                    .withLink(LinkSpec.lossy(0.1).withQueue(4));
            assertClean(Simulation.run(seed, options));
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 1})
    void shouldDeliverWholeFramesAndLoseTheSourceWhenItClosesWithinAFrame(final double fifo) {
        int torn = 0;
        for (long seed = 1; seed <= 20; seed++) {
            final SimOptions options = SimOptions.quiet(3, 12)
                    .withFrames(64 * 40, 64, 16)
                    .withFlow(8, 1, fifo)
                    .withLink(LinkSpec.lossy(0.05));
            final SimReport report = Simulation.run(seed, Variants.torn(options));
            assertClean(report);
            torn += report.of(SimCount.FRAMES) == 3 * 11 ? 1 : 0;
        }
        assertTrue(torn > 10, torn + " of 20");
    }

    @Test
    void shouldRepairByUnicastOrMulticastWithinReasonWhenLinksLose() {
        final SimOptions options = SimOptions.quiet(8, 50).withLink(LinkSpec.lossy(0.01));
        final SimReport report = Simulation.run(3, options);
        assertClean(report);
        assertTrue(report.of(SimCount.REPAIRS) > 0);
        assertTrue(
                report.of(SimCount.REPAIRS) < report.of(SimCount.DROPS) * 2,
                () -> report.of(SimCount.REPAIRS) + " repairs, " + report.of(SimCount.DROPS));
    }

    /// One reassembly buffer for every few frames that need one: a frame that waits for a buffer must not count
    /// as one that the network keeps losing. Without that rule these runs took a hundred times as long.
    @Test
    void shouldKeepGoodputWhenRepairsWaitForReassemblyBuffers() {
        double bySequence = 0;
        double fifo = 0;
        for (long seed = 1; seed <= MEAN_SEEDS; seed++) {
            bySequence += reassembledGoodput(seed, 0);
            fifo += reassembledGoodput(seed, 1);
        }
        final double share = fifo / bySequence;
        assertTrue(share > 0.5, () -> "of goodput by sequence: " + share);
    }

    private static double reassembledGoodput(final long seed, final double fifo) {
        final SimOptions options = SimOptions.quiet(1, 200)
                .withFrames(100_000, 1408, 512)
                .withFlow(256, 2, fifo)
                .withLink(LinkSpec.lossy(0.02).withQueue(512));
        final SimReport report = Simulation.run(seed, options);
        assertClean(report);
        return (double) report.of(SimCount.DELIVERED_BYTES) / (report.timeNs() - Simulation.QUIET_BEGIN_NS);
    }

    /// A link that was cut leaves hundreds of frames missing, and there are reassembly buffers for two or three
    /// at a time. With requests for all of them at once, and repeated requests while they found no room, the
    /// source sent eleven datagrams for each one lost.
    @Test
    void shouldAskOnlyForWhatFindsRoomWhenALinkWasCut() {
        long drops = 0;
        long repairs = 0;
        for (long seed = 1; seed <= MEAN_SEEDS; seed++) {
            final SimOptions options = SimOptions.quiet(1, 600)
                    .withFrames(64 * 12, 64, 4096)
                    .withFlow(4096, 2, 1)
                    .withLink(new LinkSpec(0, 0, 0, 0, 0, 0, 5_000_000, LinkSpec.CLEAN.jitterNs(), 16_384));
            final FaultMix cuts = new FaultMix(0, 1, 0, 0, 0, FaultMix.Crashes.NONE);
            final SimReport report = Simulation.run(seed, Variants.with(Variants.loaded(options, 0.02), cuts));
            assertClean(report);
            drops += report.of(SimCount.DROPS);
            repairs += report.of(SimCount.REPAIRS);
        }
        final String counted = repairs + " repairs, " + drops + " lost";
        assertTrue(drops > 1_000, counted);
        assertTrue(repairs > 0 && repairs < 2 * drops, counted);
    }

    /// Guards the protocol's performance: a change's effect on goodput, repairs and overhead shows here, without
    /// hardware. The numbers are exact because everything follows from the seeds; when a change is meant to move
    /// them, the new table is part of it. One run with loss may be a tenth off their mean.
    @Tag("campaign")
    @Test
    void shouldKeepGoodputWhenLossGrows() {
        final StringBuilder table = new StringBuilder();
        for (final double loss : new double[] {0, 0.001, 0.01, 0.05}) {
            for (final int receivers : new int[] {1, 8}) {
                final SimOptions options = SimOptions.quiet(receivers, 400)
                        .withFrames(100_000, 1408, 512)
                        .withFlow(256, 2, 0)
                        .withLink(LinkSpec.lossy(loss).withQueue(512));
                table.append("%5.1f %% %d: %s%n".formatted(100 * loss, receivers, means(options, receivers)));
            }
        }
        assertEquals(EXPECTED, table.toString());
    }

    private static String means(final SimOptions options, final int receivers) {
        double goodput = 0;
        double repairs = 0;
        double wire = 0;
        for (long seed = 1; seed <= MEAN_SEEDS; seed++) {
            final SimReport report = Simulation.run(seed, options);
            assertClean(report);
            final double bytes = (double) report.of(SimCount.DELIVERED_BYTES) / receivers;
            goodput += bytes * 1000 / (report.timeNs() - Simulation.QUIET_BEGIN_NS) / MEAN_SEEDS;
            repairs += (double) report.of(SimCount.REPAIRS) / MEAN_SEEDS;
            wire += 100 * (report.of(SimCount.WIRE_BYTES) / bytes - 1) / MEAN_SEEDS;
        }
        return "%4d MB/s, %4d repairs, wire +%.1f %%".formatted((long) goodput, (long) repairs, wire);
    }

    private static final String EXPECTED = """
              0.0 % 1: 1365 MB/s,    0 repairs, wire +2.9 %
              0.0 % 8: 1364 MB/s,    0 repairs, wire +3.0 %
              0.1 % 1: 1360 MB/s,   29 repairs, wire +3.0 %
              0.1 % 8: 1338 MB/s,  233 repairs, wire +3.8 %
              1.0 % 1: 1227 MB/s,  284 repairs, wire +3.9 %
              1.0 % 8:  881 MB/s, 2288 repairs, wire +11.2 %
              5.0 % 1:  572 MB/s, 1527 repairs, wire +8.4 %
              5.0 % 8:  290 MB/s, 11540 repairs, wire +44.3 %
            """;
}
