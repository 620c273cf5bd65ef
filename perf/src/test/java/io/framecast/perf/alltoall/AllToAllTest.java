package io.framecast.perf.alltoall;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.harness.FrameContent;
import io.framecast.perf.harness.FrameContent.Stamp;
import io.framecast.perf.harness.FramesDifferException;
import io.framecast.perf.harness.Links;
import io.framecast.perf.harness.Records;
import io.framecast.perf.streaming.StreamingPlan;
import io.framecast.perf.table.Outcome;
import io.framecast.testing.TestPorts;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Every process has every other's frames, processes being threads of one.
final class AllToAllTest {
    private static final int FRAME_BYTES = 200 * FrameContent.BLOCK_BYTES;

    private static AllToAllSpec spec(final String scheme, final int processes, final int sources, final String device) {
        final StreamingPlan plan = new StreamingPlan(
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                0,
                FRAME_BYTES,
                "auto",
                new Links(BenchNet.LOOPBACK, 1500, 0),
                "127.0.0.1",
                64 << 10,
                List.of(device),
                false,
                0,
                1,
                new StreamingPlan.Times(1, 1, 1, 1, 1));
        return new AllToAllSpec(plan, scheme, processes, sources, 0, 0, 3, 5, TestPorts.range(AllToAllSpec.PORTS));
    }

    @ParameterizedTest
    @CsvSource({
        "multicast, 3, 3, host",
        "multicast, 2, 2, emulated:0",
        "multicast, 3, 1, host",
        "ring, 4, 4, host",
        "ring, 3, 1, host",
        "ring, 2, 2, emulated:0",
    })
    void shouldBringEveryFrameToEveryProcess(
            final String scheme, final int processes, final int sources, final String device) throws Exception {
        final AllToAllSpec spec = spec(scheme, processes, sources, device);
        final List<FutureTask<AllToAllReport>> running = new ArrayList<>();
        for (int i = 0; i < processes; i++) {
            final AllToAllSpec own = Records.read(AllToAllSpec.class, Records.write(spec.of(i)));
            final FutureTask<AllToAllReport> task = new FutureTask<>(() -> AllToAllRole.run(own));
            Thread.ofPlatform().daemon().start(task);
            running.add(task);
        }
        for (final FutureTask<AllToAllReport> task : running) {
            final AllToAllReport report = task.get();
            assertEquals(3, report.roundsUs().size());
            assertTrue(report.seconds() > 0, report::toString);
        }
    }

    @Test
    void shouldNoticeAFrameThatIsAnother() {
        try (DeviceBackend host =
                        spec("ring", 2, 2, "host").plan().deviceOfSource().open();
                FrameCheck check = new FrameCheck(host, FRAME_BYTES, 2)) {
            final MemorySegment frame = host.allocatePinned(FRAME_BYTES);
            FrameContent.fill(frame);
            FrameContent.stamp(frame, new Stamp(0, 0, 0));
            final DeviceRegion region = DeviceRegion.ofHost(frame.asSlice(0, FRAME_BYTES));
            check.onFrame(1, region);
            final FramesDifferException again =
                    assertThrows(FramesDifferException.class, () -> check.onFrame(1, region));
            assertEquals("frame 0 of process 1 came where 1 was due", again.getMessage());
            frame.set(ValueLayout.JAVA_BYTE, FRAME_BYTES / 2, (byte) 99);
            assertThrows(FramesDifferException.class, () -> check.onFrame(0, region));
            host.freePinned(frame);
        }
    }

    @Test
    void shouldPredictByEquationsNineAndEleven() {
        final AllToAllRound round = new AllToAllRound(100, 320, 45, 0.9, 1.05, 0.5);
        final AllToAllRow row = new AllToAllRow("multicast", 4, FRAME_BYTES, List.of(Outcome.of(round)));
        assertEquals(0.2, row.overlap(), 1e-9);
        assertEquals(300, row.predictedUs(), 1e-9);
        assertEquals(0.0625, row.error(), 1e-9);
        assertEquals(0.35, row.ofUnicast(), 1e-9);
    }
}
