package io.framecast.perf.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.harness.LinuxSocket;
import io.framecast.perf.harness.MeasurementFailedException;
import io.framecast.perf.harness.Networks;
import io.framecast.perf.rivals.Bystander;
import io.framecast.perf.rivals.StreamSpec;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Each system carries frames between real processes, for a moment.
final class MeasurementTest {
    private static final BenchTimes TIMES = new BenchTimes(0, 0.1, 0.3);

    private final List<String> lines = new ArrayList<>();

    @Tag("campaign")
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
            assume(LinuxSocket.hasBatching(), "this kernel has no UDP_SEGMENT and UDP_GRO");
        }
        final BenchCase setting = new BenchCase(
                BenchScenario.THROUGHPUT, BenchNet.LOOPBACK, frameBytes, receivers, 1500, 0, true, framesPerSecond);
        final RoundResult result = measure(setting, new BenchSystem(system));
        assertPlausible(new BenchSystem(system), result);
        assertEquals(new BenchSystem(system).transport(), result.transport());
        if (framesPerSecond > 0) {
            // Not much more than was offered (on a starved machine what was late comes in a burst): what is
            // counted ends with the last frame, not with the time.
            final double offeredMBps = framesPerSecond * frameBytes / 1e6;
            assertTrue(result.goodputMBps() < 10 * offeredMBps, () -> result + " of " + offeredMBps);
        }
    }

    /// The processes of a system serve every device.
    @ParameterizedTest
    @CsvSource({"framecast:udp+auth, 2, host", "shmem, 1, copied staged"})
    void shouldBringEveryByteToReadersOfOneHost(
            final String name, final double datagramsPerSent, final String placements) throws Exception {
        bringEveryByte(name, datagramsPerSent, placements);
    }

    @Tag("campaign")
    @ParameterizedTest
    @CsvSource({"framecast:udp, 2, host staged", "host-group, 1, host", "copy, NaN, host staged"})
    void shouldBringEveryByteToReadersOfOneHostThroughOtherSystems(
            final String name, final double datagramsPerSent, final String placements) throws Exception {
        bringEveryByte(name, datagramsPerSent, placements);
    }

    private void bringEveryByte(final String name, final double datagramsPerSent, final String placements)
            throws Exception {
        final BenchSystem system = new BenchSystem(name);
        final List<String> expected = List.of(placements.split(" ", -1));
        // In host memory, then on a device.
        final List<BenchPlan.Part> parts = Stream.of("host", "emulated:0")
                .limit(expected.size())
                .map(device -> new BenchPlan.Part(readers(device), List.of(system)))
                .toList();
        try (Measurement measurement = measurement(new BenchGroup(parts))) {
            for (int i = 0; i < parts.size(); i++) {
                final RoundResult result = measurement.run(parts.get(i).setting(), system, TIMES);
                assertPlausible(system, result);
                assertEquals(expected.get(i), result.onHost().placement());
                // Heartbeats and joins are datagrams too.
                assertEquals(datagramsPerSent, result.onHost().datagramsPerSent(), 0.2);
                assertTrue(result.onHost().memoryBytes() > 1 << 20, result::toString);
            }
        }
    }

    private static BenchCase readers(final String device) {
        return new BenchCase(
                BenchScenario.THROUGHPUT,
                BenchNet.LOOPBACK,
                100_000,
                2,
                1500,
                0,
                true,
                100,
                Bystander.NONE,
                new StreamSpec.Readers(device, 0, 0));
    }

    @Test
    void shouldCarryFramesWithoutBatching() throws Exception {
        assume(LinuxSocket.hasBatching(), "this kernel has no UDP_SEGMENT and UDP_GRO");
        assertPlausible(
                BenchSystem.FLOOR,
                measure(
                        new BenchCase(BenchScenario.THROUGHPUT, BenchNet.LOOPBACK, 100_000, 1, 1500, 0, false, 0),
                        BenchSystem.FLOOR));
    }

    @Test
    void shouldCarryEveryFrameWithLoss() throws Exception {
        final RoundResult result = measure(
                new BenchCase(BenchScenario.LOSS, BenchNet.LOOPBACK, 100_000, 1, 1500, 0.01, true, 0),
                BenchSystem.framecast("udp"));
        assertPlausible(BenchSystem.framecast("udp"), result);
    }

    @Tag("campaign")
    @Test
    void shouldCountTheBytesOfTheInterfaceBetweenNamespaces() throws Exception {
        final String why = Networks.unavailable();
        assume(why.isEmpty(), why);
        final BenchCase setting =
                new BenchCase(BenchScenario.THROUGHPUT, BenchNet.BRIDGE, 1_000_000, 2, 1500, 0, false, 30);
        for (final BenchSystem system : List.of(BenchSystem.FLOOR, BenchSystem.TCP)) {
            final RoundResult result = measure(setting, system);
            assertPlausible(system, result);
            // TCP sends every byte to each of two.
            final double copies = system.equals(BenchSystem.TCP) ? 2 : 1;
            // Bytes in the kernel's queues are missing when counting ends: some per cent on a starved machine.
            final double perByte = result.wireBytesPerByte() / copies;
            assertTrue(perByte > 0.4 && perByte < 1.5, result::toString);
            assertTrue(result.overhead() >= copies - 1 && result.overhead() < copies, result::toString);
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

    @Tag("campaign")
    @Test
    void shouldCarryRoundAfterRoundByTheSameProcesses() throws Exception {
        for (final String name : List.of("framecast:udp", "aeron", "tcp")) {
            final BenchSystem system = new BenchSystem(name);
            final BenchGroup group = new BenchGroup(List.of(
                    part(system, 1, BenchNet.LOOPBACK),
                    part(system, 2, BenchNet.LOOPBACK),
                    part(system, 1, BenchNet.LOOPBACK)));
            final Set<Long> processes = new HashSet<>();
            try (Measurement measurement = measurement(group)) {
                for (final BenchPlan.Part part : group.parts()) {
                    assertPlausible(system, measurement.run(part.setting(), system, TIMES));
                    ProcessHandle.current().children().map(ProcessHandle::pid).forEach(processes::add);
                }
            }
            assertEquals(3, processes.size(), name);
            assertTrue(processes.stream().allMatch(pid -> ProcessHandle.of(pid).isEmpty()), name);
        }
    }

    @Test
    void shouldStartAnewWhenAProcessDied() throws Exception {
        final BenchSystem system = BenchSystem.TCP;
        final BenchPlan.Part part = part(system, 1, BenchNet.LOOPBACK);
        try (Measurement measurement = measurement(new BenchGroup(List.of(part)))) {
            assertPlausible(system, measurement.run(part.setting(), system, TIMES));
            ProcessHandle.current().children().findFirst().orElseThrow().destroyForcibly();
            final MeasurementFailedException failure = assertThrows(
                    MeasurementFailedException.class, () -> measurement.run(part.setting(), system, TIMES));
            assertTrue(String.valueOf(failure.getMessage()).startsWith("tcp "), failure::getMessage);
            assertPlausible(system, measurement.run(part.setting(), system, TIMES));
        }
    }

    @Tag("campaign")
    @Test
    void shouldChangeLossAndReceiversOfANetwork() throws Exception {
        final String why = Networks.unavailable();
        assume(why.isEmpty(), why);
        final BenchSystem system = BenchSystem.framecast("udp");
        final BenchPlan.Part clean = part(system, 2, BenchNet.BRIDGE);
        final BenchCase setting = clean.setting();
        final BenchCase lossy = new BenchCase(
                setting.scenario(), setting.net(), setting.frameBytes(), 1, setting.mtuBytes(), 0.1, false, 200);
        final BenchGroup group = new BenchGroup(List.of(clean, new BenchPlan.Part(lossy, List.of(system))));
        try (Measurement measurement = measurement(group)) {
            final double before = measurement.run(setting, system, TIMES).overhead();
            final double lost = measurement.run(lossy, system, TIMES).overhead();
            final double after = measurement.run(setting, system, TIMES).overhead();
            // A tenth is sent again, of which a round as short as this sees half or less; and nothing
            // without loss.
            assertTrue(lost > before + 0.02 && lost > after + 0.02, () -> before + ", " + lost + ", " + after);
        }
    }

    private static BenchPlan.Part part(final BenchSystem system, final int receivers, final BenchNet net) {
        return new BenchPlan.Part(
                new BenchCase(
                        BenchScenario.THROUGHPUT, net, 100_000, receivers, 1500, 0, net == BenchNet.LOOPBACK, 200),
                List.of(system));
    }

    private Measurement measurement(final BenchGroup group) {
        final BenchPlan plan = new BenchPlan(group.parts(), 1, TIMES, 0, List.of(), Optional.empty());
        final Measurement measurement = new Measurement(plan.socketBufferBytes(), line -> {
            synchronized (lines) {
                lines.add(line);
            }
        });
        measurement.begin(group);
        return measurement;
    }

    private RoundResult measure(final BenchCase setting, final BenchSystem system) throws Exception {
        final BenchGroup group = new BenchGroup(List.of(new BenchPlan.Part(setting, List.of(system))));
        try (Measurement measurement = measurement(group)) {
            return measurement.run(setting, system, TIMES);
        }
    }

    private static void assertPlausible(final BenchSystem system, final RoundResult result) {
        // The raw loop repairs nothing: a receiver that gets no core loses datagrams.
        if (!system.equals(BenchSystem.FLOOR)) {
            assertEquals(0, result.lostFrames());
        }
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
