package io.framecast.perf.streaming;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.perf.harness.BackgroundLoad;
import io.framecast.perf.harness.BenchNet;
import io.framecast.perf.harness.DeviceChoice;
import io.framecast.perf.harness.FrameContent;
import io.framecast.perf.harness.FrameContent.Stamp;
import io.framecast.perf.harness.FramesDifferException;
import io.framecast.perf.harness.Links;
import io.framecast.perf.harness.Records;
import io.framecast.testing.TestPorts;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Every scheme carries a stream to emulated devices, sources and receivers on threads of one process.
final class SchemesTest {
    private static final int FRAME_BYTES = 300 * FrameContent.BLOCK_BYTES;

    @AfterEach
    void forgetTheLink() {
        DeviceChoice.limitLink(0);
    }

    private static StreamingSpec spec(final String scheme, final int receivers, final Direction direction) {
        final Contender contender =
                scheme.equals(Scheme.FRAMECAST) ? Contender.framecast("auto") : Contender.over(scheme, 2);
        final StreamingPlan plan = new StreamingPlan(
                List.of(contender),
                List.of(receivers),
                List.of(direction),
                List.of(Impairment.NONE),
                50_000_000,
                FRAME_BYTES,
                "auto",
                new Links(BenchNet.LOOPBACK, 1500, 0),
                "127.0.0.1",
                64 << 10,
                List.of("emulated:0"),
                true,
                500_000_000,
                3,
                new StreamingPlan.Times(1, 1, 0.02, 0.02, 0.05));
        return new StreamingSpec(
                plan, contender, new StreamingCase(receivers, direction), TestPorts.range(StreamingSpec.PORTS), 0);
    }

    @ParameterizedTest
    @CsvSource({
        "framecast, 2, NONE",
        "framecast, 1, BOTH",
        "ring, 1, NONE",
        "ring, 3, H2D",
        "knomial, 3, PAPER",
        "knomial, 4, D2H",
        "knomial-4, 6, NONE",
        "unicast, 3, NONE",
    })
    void shouldBringTheSameFramesToEveryDevice(final String scheme, final int receivers, final Direction direction)
            throws Exception {
        final StreamingSpec spec = spec(scheme, receivers, direction);
        final List<FutureTask<ReceivedReport>> subscribing = new ArrayList<>();
        for (int i = 0; i < receivers; i++) {
            final StreamingSpec own = Records.read(StreamingSpec.class, Records.write(spec.ofReceiver(i)));
            subscribing.add(start(() -> Scheme.of(own).subscribe(own)));
        }
        final SentReport source = Scheme.of(spec).publish(spec);
        assertEquals(direction.atSource() != BackgroundLoad.Load.NONE, source.backgroundMBps() > 0);
        for (final FutureTask<ReceivedReport> task : subscribing) {
            final ReceivedReport report = task.get();
            assertEquals("emulated:0", report.device());
            assertTrue(report.frames() >= 4, report::toString);
            assertTrue(report.checkedFrames() >= 2, report::toString);
            assertTrue(report.broadcastMBps() > 0, report::toString);
            assertTrue(report.latencyUs() > 0, report::toString);
            assertEquals(direction.atReceiver() != BackgroundLoad.Load.NONE, report.backgroundMBps() > 0);
        }
    }

    private static <T> FutureTask<T> start(final Callable<T> action) {
        final FutureTask<T> task = new FutureTask<>(action);
        Thread.ofPlatform().daemon().name("receiver").start(task);
        return task;
    }

    @Test
    void shouldNoticeADeviceThatHoldsSomethingElse() throws Exception {
        final StreamingSpec spec = spec(Scheme.RING, 1, Direction.NONE);
        try (DeviceBackend device = spec.plan().deviceOfSource().open(0);
                Acknowledgements acknowledgements = new Acknowledgements(spec);
                Acknowledgements.Sending sending = new Acknowledgements.Sending(spec);
                BackgroundLoad none = new BackgroundLoad(device, Direction.NONE.atReceiver(), 0);
                StreamingMeter meter = new StreamingMeter(spec, device, sending, none);
                DeviceStream stream = device.openStream()) {
            acknowledgements.accept(1);
            final DeviceRegion region = device.allocate(FRAME_BYTES);
            final MemorySegment frame = device.allocatePinned(FRAME_BYTES);
            FrameContent.fill(frame);
            FrameContent.stamp(frame, new Stamp(0, 0, Stamp.CHECKED));
            stream.copyToDevice(region.address(), frame, 0, FRAME_BYTES);
            stream.synchronize();
            assertEquals(false, meter.onFrame(region, 1));
            acknowledgements.await(0);
            FrameContent.stamp(frame, new Stamp(1, 0, Stamp.CHECKED));
            stream.copyToDevice(region.address(), frame, 0, FRAME_BYTES);
            stream.fill(region.address() + FRAME_BYTES / 2, (byte) 0, 1);
            stream.synchronize();
            final var e = assertThrows(FramesDifferException.class, () -> meter.onFrame(region, 1));
            assertEquals("frame 1 differs at byte " + FRAME_BYTES / 2, e.getMessage());
        }
    }

    @Test
    void shouldMissAReceiverThatLeftEarlyButNotOneThatHasAll() throws Exception {
        final StreamingSpec spec = spec(Scheme.RING, 1, Direction.NONE);
        try (Acknowledgements acknowledgements = new Acknowledgements(spec)) {
            try (Acknowledgements.Sending sending = new Acknowledgements.Sending(spec)) {
                acknowledgements.accept(1);
                sending.acknowledge(4);
            }
            acknowledgements.await(4);
            final var e = assertThrows(IllegalStateException.class, () -> acknowledgements.await(5));
            assertEquals("a receiver left before it had frame 5", e.getMessage());
        }
    }

    @Test
    void shouldBeTheSameInWords() {
        final StreamingSpec spec = spec(Scheme.KNOMIAL, 3, Direction.PAPER);
        assertEquals(spec, Records.read(StreamingSpec.class, Records.write(spec)));
    }
}
