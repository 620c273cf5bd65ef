package io.framecast.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.Floor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/// Java's cost of a datagram through a source's lane and a receiver's, against the same work in C (`floor.c`)
/// on the same stand-in: in turns of some milliseconds, so that whatever else the machine does falls on both,
/// and by the CPU time of the one thread that does both. Not among the tests; a table on standard output, JSON
/// in the build's folder:
///
///     ./mvnw -pl rdma-transport -am test -Dtest=VerbsFloorBench -Djacoco.skip=true \
///         -Dsurefire.failIfNoSpecifiedTests=false
///
/// Without the agent that counts coverage: it has Java's code store a word at each branch, which costs about a
/// tenth of what is measured here.
final class VerbsFloorBench {
    private static final int HEADER_BYTES = 32;
    private static final int SLOTS = 256;
    private static final int ROUNDS = Integer.getInteger("framecast.floor.rounds", 15);
    // Of each in a round, and datagrams in a turn: whole batches.
    private static final int TURNS = 20;
    private static final int DATAGRAMS = 19_200;
    private static final int WARM_UPS = 4;
    private static final int[] PAYLOADS = {64, 1024, 4056};
    private static final int[] BATCHES = {8, 32, 64};
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private record Row(int payloadBytes, int batch, double javaNs, double floorNs, double ratio, double worst) {
        String json() {
            return String.format(
                    Locale.ROOT,
                    "{\"payload_bytes\":%d,\"batch\":%d,\"java_ns\":%.1f,\"c_ns\":%.1f,\"ratio\":%.3f,\"ratio_max\":%.3f}",
                    payloadBytes,
                    batch,
                    javaNs,
                    floorNs,
                    ratio,
                    worst);
        }
    }

    @Test
    void compare() throws IOException {
        assertTrue(
                ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                        .noneMatch(argument -> argument.startsWith("-javaagent")),
                "expected no agent, for it would be measured as well; run with -Djacoco.skip=true");
        final List<Row> rows = new ArrayList<>();
        for (final int payloadBytes : PAYLOADS) {
            final LaneRings rings = new LaneRings(SLOTS, HEADER_BYTES, payloadBytes);
            final Floor floor = new Floor(SLOTS, HEADER_BYTES, payloadBytes);
            try (Arena arena = Arena.ofShared();
                    Transport near = LaneRings.openTransport("10.77.0.1");
                    Transport far = LaneRings.openTransport("10.77.0.2");
                    Lane source = rings.source(near, arena);
                    Lane receiver = rings.receiver(far, arena, source)) {
                for (final int batch : BATCHES) {
                    rows.add(measure(source, receiver, floor, new int[] {payloadBytes, batch}));
                }
            }
        }
        System.out.println("payload  batch   Java ns      C ns   ratio   worst");
        rows.forEach(row -> System.out.printf(
                Locale.ROOT,
                "%7d %6d %9.1f %9.1f %7.3f %7.3f%n",
                row.payloadBytes,
                row.batch,
                row.javaNs,
                row.floorNs,
                row.ratio,
                row.worst));
        Files.writeString(
                Path.of("target", "verbs-floor.json"),
                "[" + String.join(",\n", rows.stream().map(Row::json).toList()) + "]\n");
    }

    private static Row measure(final Lane source, final Lane receiver, final Floor floor, final int[] shape) {
        final Completions completions = new Completions(SLOTS);
        final int batch = shape[1];
        final int count = DATAGRAMS / batch;
        final double[] javaNs = new double[ROUNDS];
        final double[] floorNs = new double[ROUNDS];
        final double[] ratios = new double[ROUNDS];
        for (int round = -WARM_UPS; round < ROUNDS; round++) {
            long javaSumNs = 0;
            long floorSumNs = 0;
            for (int turn = 0; turn < TURNS; turn++) {
                final long startNs = THREADS.getCurrentThreadCpuTime();
                final long javaArrived = rounds(source, receiver, completions, new int[] {count, batch, shape[0]});
                final long betweenNs = THREADS.getCurrentThreadCpuTime();
                final long floorArrived = floor.rounds(count, batch);
                floorSumNs += THREADS.getCurrentThreadCpuTime() - betweenNs;
                javaSumNs += betweenNs - startNs;
                assertEquals(DATAGRAMS, javaArrived);
                assertEquals(DATAGRAMS, floorArrived);
            }
            if (round >= 0) {
                javaNs[round] = (double) javaSumNs / TURNS / DATAGRAMS;
                floorNs[round] = (double) floorSumNs / TURNS / DATAGRAMS;
                ratios[round] = javaNs[round] / floorNs[round];
            }
        }
        Arrays.sort(javaNs);
        Arrays.sort(floorNs);
        Arrays.sort(ratios);
        return new Row(
                shape[0], batch, javaNs[ROUNDS / 2], floorNs[ROUNDS / 2], ratios[ROUNDS / 2], ratios[ROUNDS - 1]);
    }

    private static long rounds(
            final Lane source, final Lane receiver, final Completions completions, final int[] shape) {
        final int count = shape[0];
        final int batch = shape[1];
        final int bytes = HEADER_BYTES + shape[2];
        long arrived = 0;
        for (int round = 0; round < count; round++) {
            final int first = round % (SLOTS / batch) * batch;
            receiver.post(first, batch);
            source.multicast(first, batch);
            completions.clear();
            receiver.poll(completions);
            for (int i = 0; i < completions.count(); i++) {
                arrived += completions.slot(i) == first + i && completions.bytes(i) == bytes ? 1 : 0;
            }
        }
        source.completed();
        return arrived;
    }
}
