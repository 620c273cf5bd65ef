package io.framecast.perf.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.perf.rivals.FloorSystem;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Each system carries frames between real processes, for a moment.
final class MeasurementTest {
    private static final double WARM_UP_SECONDS = 0.1;
    private static final double SECONDS = 0.3;

    private final List<String> lines = new ArrayList<>();

    @ParameterizedTest
    @CsvSource({
        "framecast:udp, 65536, 1, 0",
        "framecast:udp, 1000000, 2, 50",
        "framecast:aeron, 65536, 1, 0",
        "floor, 1000000, 1, 0",
        "floor, 64, 1, 0",
        "floor, 3000, 2, 200",
        "aeron, 65536, 1, 0",
        "tcp, 65536, 1, 0",
        "tcp, 64, 2, 500",
    })
    void shouldCarryFramesOverLoopback(
            final String system, final int frameBytes, final int receivers, final double framesPerSecond)
            throws Exception {
        if (system.equals("floor")) {
            assume(FloorSystem.hasBatching(), "this kernel has no UDP_SEGMENT and UDP_GRO");
        }
        final BenchCase setting = new BenchCase(
                BenchScenario.THROUGHPUT, BenchNet.LOOPBACK, frameBytes, receivers, 1500, 0, true, framesPerSecond);
        final RoundResult result = measure(setting, new BenchSystem(system));
        assertPlausible(result);
        assertEquals(new BenchSystem(system).transport(), result.transport());
        if (framesPerSecond > 0) {
            // No more than was offered: what is counted ends with the last frame, not with the time.
            final double offeredMBps = framesPerSecond * frameBytes / 1e6;
            assertTrue(result.goodputMBps() < 2 * offeredMBps, () -> result + " of " + offeredMBps);
        }
    }

    @Test
    void shouldCarryFramesWithoutBatching() throws Exception {
        assume(FloorSystem.hasBatching(), "this kernel has no UDP_SEGMENT and UDP_GRO");
        assertPlausible(measure(
                new BenchCase(BenchScenario.THROUGHPUT, BenchNet.LOOPBACK, 100_000, 1, 1500, 0, false, 0),
                BenchSystem.FLOOR));
    }

    @Test
    void shouldCarryEveryFrameWithLoss() throws Exception {
        final RoundResult result = measure(
                new BenchCase(BenchScenario.LOSS, BenchNet.LOOPBACK, 100_000, 1, 1500, 0.01, true, 0),
                BenchSystem.framecast("udp"));
        assertPlausible(result);
    }

    @Test
    void shouldCountTheBytesOfTheInterfaceBetweenNamespaces() throws Exception {
        final String why = Namespaces.unavailable();
        assume(why.isEmpty(), why);
        final BenchCase setting =
                new BenchCase(BenchScenario.THROUGHPUT, BenchNet.BRIDGE, 1_000_000, 2, 1500, 0, false, 30);
        for (final BenchSystem system : List.of(BenchSystem.FLOOR, BenchSystem.TCP)) {
            final RoundResult result = measure(setting, system);
            assertPlausible(result);
            // TCP sends every byte to each of two.
            final double copies = system.equals(BenchSystem.TCP) ? 2 : 1;
            assertTrue(result.overhead() > copies - 1 && result.overhead() < 1.3 * copies - 1, result::toString);
        }
    }

    @Test
    void shouldSayWhyWhenAProcessCannotDoItsPart() {
        final BenchCase setting =
                new BenchCase(BenchScenario.THROUGHPUT, BenchNet.LOOPBACK, 1_000, 1, 1500, 0, true, 0);
        final MeasurementFailedException failure =
                assertThrows(MeasurementFailedException.class, () -> measure(setting, BenchSystem.framecast("verbs")));
        assertTrue(String.valueOf(failure.getMessage()).contains("verbs"), failure::getMessage);
        assertFalse(String.valueOf(failure.getMessage()).contains("\n"));
    }

    private RoundResult measure(final BenchCase setting, final BenchSystem system) throws Exception {
        final BenchPlan plan = new BenchPlan(
                List.of(new BenchPlan.Part(setting, List.of(system))),
                1,
                WARM_UP_SECONDS,
                SECONDS,
                0,
                List.of(),
                Optional.empty());
        try (Measurement measurement = new Measurement(plan, line -> {
            synchronized (lines) {
                lines.add(line);
            }
        })) {
            return measurement.run(setting, system);
        }
    }

    private static void assertPlausible(final RoundResult result) {
        assertFalse(result.hasFailed(), result::failure);
        assertEquals(0, result.lostFrames());
        assertTrue(result.goodputMBps() > 0, result::toString);
        assertTrue(result.cpuSecondsPerGB() >= 0 && result.sourceCpuSecondsPerGB() >= 0, result::toString);
        assertTrue(
                result.p50Us() > 0 && result.p50Us() <= result.p99Us() && result.p99Us() <= result.p999Us(),
                result::toString);
    }

    private static void assume(final boolean possible, final String reason) {
        if (!possible) {
            System.out.println("skipped: " + reason);
        }
        Assumptions.assumeTrue(possible, reason);
    }
}
