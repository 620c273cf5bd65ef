package io.framecast.engine.sink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.NodeConfig;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.FifoNetwork;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.metrics.CounterSample;
import io.framecast.engine.testing.DelayedDevice;
import io.framecast.engine.testing.LateNic;
import io.framecast.engine.testing.StreamFixture;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Payloads that a NIC copies from the host into a device, late or not at all. Streams are checked byte by byte,
/// on the test's thread. [StagedStreamTest] has the tests that hold for every placement.
class LoopbackStreamTest extends LateDeviceFixture {
    private static final int NEVER = Integer.MAX_VALUE;
    private static final int FRAME_MAX = 150_000;
    private static final String LOOPBACK = "|placement=loopback";
    private static final String COPIED = "framecast_nic_copied_bytes_total";
    private static final String FALLBACKS = "framecast_nic_copy_fallbacks_total";

    private final List<String> notices = new ArrayList<>();
    private Path counters = StreamFixture.countersFile();
    private long landable;

    private void launch(final double loss, final String keys) {
        launch(
                NodeConfig.DEFAULT
                        .withCountersFile(counters)
                        .withNotices(this::onNotice)
                        .withFaults(new NodeConfig.Faults(loss)),
                FifoNetwork.lossless(),
                true);
        join("|channel=cam1|window=64k|frame-max=" + FRAME_MAX + "|frames-held=1|device=emulated" + keys);
    }

    private void onNotice(final String line) {
        notices.add(line);
        landable += line.contains("the NIC copies no more") ? nic.brokenOpen() : 0;
    }

    private void start(final double loss, final String keys) {
        launch(loss, keys);
        awaitReady();
    }

    // Until the NIC is connected with itself.
    private void connect() {
        for (int i = 0; i < 10 + 3 * nic.lag; i++) {
            cycle(i);
        }
    }

    private long count(final String name, final String labels) {
        try (CounterReader reader = CounterReader.open(counters)) {
            return reader.samples().stream()
                    .filter(sample ->
                            sample.name().equals(name) && sample.labels().contains(labels))
                    .mapToLong(CounterSample::value)
                    .sum();
        }
    }

    private void awaitCount(final String name, final String labels, final long least) {
        for (int i = 0; count(name, labels) < least; i++) {
            assertTrue(i < 100_000, () -> name + labels + " stays at " + count(name, labels));
            cycle(i);
        }
    }

    private MemorySegment frame(final int id) {
        return frame(id, 1 + id * 48_611L % FRAME_MAX);
    }

    private MemorySegment read(final DeviceStream stream, final DeviceFrame frame) {
        final MemorySegment host = arena.allocate(frame.length());
        stream.await(frame.ready());
        stream.copyToHost(host, 0, frame.region().address(), frame.length());
        frame.release(stream);
        return host;
    }

    private void deliver(final int frames) {
        final DeviceStream stream = subscriber.device().openStream();
        final List<MemorySegment> copies = new ArrayList<>();
        int offered = 0;
        MemorySegment next = frame(0);
        for (int i = 0; copies.size() < frames; i++) {
            cycle(i);
            if (offered < frames && publisher.offer(next, FrameOptions.DEFAULT) > 0) {
                next = frame(++offered);
            }
            final DeviceFrame frame = subscriber.poll();
            if (frame != null) {
                assertEquals(copies.size(), frame.frameId());
                copies.add(read(stream, frame));
            }
        }
        stream.synchronize();
        stream.close();
        for (int id = 0; id < frames; id++) {
            assertEquals(-1, copies.get(id).mismatch(frame(id)), "frame " + id);
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "0, 30", "0.02, 30", "0.02, 200"})
    void shouldCopyNothingByTheEngineOnceTheNicIsConnected(final double loss, final int lag) {
        nic.lag = lag;
        start(loss, LOOPBACK);
        connect();
        final int uploads = device.uploads;
        deliver(60);
        assertEquals(uploads, device.uploads);
        assertTrue(lag == 1 || nic.depth > 1, "reads are under way beside each other");
        awaitCount(COPIED, "", 60L * FRAME_MAX / 3);
        assertEquals(0, count(FALLBACKS, "broken"));
    }

    /// Reads out of the window end at once, copies to the device late.
    @Test
    void shouldNotReadIntoASlotThatTheNicHasNotCopiedOnYet() {
        nic.lag = 1;
        start(0.05, LOOPBACK);
        for (int i = 0; i % 1000 != 0 || count("framecast_linked_members", "") == 0; i++) {
            cycle(i);
        }
        nic.lag = 400;
        nic.hostLead = 399;
        deliver(60);
        assertTrue(count("framecast_pulled_datagrams_total", "") > 0);
    }

    @Test
    void shouldNotHandOutAFrameBeforeTheNicHasCopiedIt() {
        start(0, LOOPBACK);
        connect();
        nic.lag = NEVER;
        final MemorySegment sent = frame(5);
        assertTrue(publisher.offer(sent, FrameOptions.DEFAULT) > 0);
        for (int i = 0; i < 5_000; i++) {
            cycle(i);
            assertNull(subscriber.poll());
        }
        assertTrue(nic.copies > 0);
        nic.lag = 1;
        final DeviceStream stream = subscriber.device().openStream();
        DeviceFrame frame = null;
        for (int i = 0; frame == null; i++) {
            cycle(i);
            frame = subscriber.poll();
        }
        final MemorySegment copy = read(stream, frame);
        stream.synchronize();
        stream.close();
        assertEquals(-1, copy.mismatch(sent));
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "0, 40", "0, 90", "0.02, 40", "0.02, 150"})
    void shouldGoOnWithTheCopyEngineWhenTheConnectionBreaks(final double loss, final int copies) {
        nic.breaksAt = copies;
        start(loss, LOOPBACK);
        connect();
        deliver(90);
        assertEquals(copies, nic.copies);
        assertEquals(0, landable, "a read in flight lands behind a copy of the engine");
        assertEquals(0, device.unflushedAtUploads, "an unflushed write lands behind a copy of the engine");
        awaitCount(FALLBACKS, "broken", 1);
        assertTrue(notices.contains("placement of cam1: the NIC copies no more, the copy engine does: no answer (12)"));
        assertEquals("loopback", subscriber.placement().orElseThrow().toString());
    }

    @Test
    void shouldGoOnWithTheCopyEngineWhenTheNicTakesNothing() {
        nic.takes = false;
        start(0, LOOPBACK);
        connect();
        deliver(30);
        assertEquals(0, nic.copies);
        assertTrue(
                notices.contains("placement of cam1: the NIC copies no more, the copy engine does: it takes no reads"));
    }

    @Test
    void shouldCopyByTheEngineWhileTheNicIsNotConnected() {
        nic.connects = false;
        start(0, LOOPBACK);
        deliver(30);
        assertEquals(0, nic.copies);
        awaitCount(FALLBACKS, "connecting", 1);
        nic.connects = true;
        connect();
        final int uploads = device.uploads;
        final DeviceStream stream = subscriber.device().openStream();
        final MemorySegment sent = frame(7);
        assertTrue(publisher.offer(sent, FrameOptions.DEFAULT) > 0);
        DeviceFrame frame = null;
        for (int i = 0; frame == null; i++) {
            cycle(i);
            frame = subscriber.poll();
        }
        final MemorySegment copy = read(stream, frame);
        stream.synchronize();
        stream.close();
        assertEquals(-1, copy.mismatch(sent));
        assertEquals(uploads, device.uploads);
    }

    @Test
    void shouldFreeEverythingWhenItClosesDuringCopiesOfTheNic() {
        start(0, LOOPBACK);
        connect();
        nic.lag = NEVER;
        assertTrue(publisher.offer(frame(5), FrameOptions.DEFAULT) > 0);
        for (int i = 0; nic.copies == 0; i++) {
            cycle(i);
        }
        subscriber.close();
        for (int i = 0; device.allocatedBytes() > 0; i++) {
            cycle(i);
        }
    }

    @Test
    void shouldLetGoOfTheTransportWhenItClosesAndKeepFramesReadable() {
        start(0, LOOPBACK);
        connect();
        final MemorySegment sent = frame(5);
        assertTrue(publisher.offer(sent, FrameOptions.DEFAULT) > 0);
        DeviceFrame frame = null;
        for (int i = 0; frame == null; i++) {
            cycle(i);
            frame = subscriber.poll();
        }
        subscriber.close();
        for (int i = 0; publisher.readySubscribers() > 0 || nic.open() > 0; i++) {
            assertTrue(i < 100_000, "endpoints of a transport that is closed");
            cycle(i);
        }
        assertTrue(device.allocatedBytes() > 0);
        final DeviceStream stream = device.openStream();
        final MemorySegment copy = read(stream, frame);
        stream.synchronize();
        stream.close();
        assertEquals(-1, copy.mismatch(sent));
        for (int i = 0; device.allocatedBytes() > 0; i++) {
            cycle(i);
        }
    }

    /// A newer frame is always on its way.
    @Test
    void shouldShowFramesUnderLatestWhileNewerOnesComeAllTheTime() {
        start(0, LOOPBACK + "|delivery=latest");
        connect();
        final DeviceStream stream = subscriber.device().openStream();
        final MemorySegment host = arena.allocate(3_000);
        int seen = 0;
        int offered = 0;
        for (int i = 0; i < 4_000; i++) {
            offered += publisher.offer(frame(offered, 3_000), FrameOptions.DEFAULT) > 0 ? 1 : 0;
            cycle(i);
            final DeviceFrame frame = i % 40 == 39 ? subscriber.poll() : null;
            if (frame != null) {
                seen++;
                frame.awaitReady();
                stream.copyToHost(host, 0, frame.region().address(), frame.length());
                stream.synchronize();
                assertEquals(-1, host.mismatch(frame((int) frame.frameId(), 3_000)));
                frame.close();
            }
        }
        stream.close();
        final int frames = seen;
        assertTrue(frames >= 80, () -> frames + " frames seen in a hundred looks");
    }

    /// Slots are used again while the NIC still copies dropped frames out of them.
    @ParameterizedTest
    @CsvSource({
        "latest, 0, 0",
        "latest, 0.05, 0",
        "latest, 0.05, 150",
        "deadline=4ms, 0.05, 0",
        "deadline=4ms, 0.05, 150"
    })
    void shouldKeepFramesWholeWhenOthersAreGivenUpOnTheWay(
            final String delivery, final double loss, final int breaksAt) {
        nic.lag = 60;
        nic.breaksAt = breaksAt > 0 ? breaksAt : NEVER;
        start(loss, LOOPBACK + "|delivery=" + delivery);
        connect();
        final DeviceStream stream = subscriber.device().openStream();
        int seen = 0;
        int offered = 0;
        final MemorySegment[] frames = new MemorySegment[50];
        Arrays.setAll(frames, this::frame);
        for (int i = 0; i < 6_000 && seen < 40; i++) {
            offered += publisher.offer(frames[offered % 50], FrameOptions.DEFAULT) > 0 ? 1 : 0;
            cycle(i);
            final DeviceFrame frame = subscriber.poll();
            if (frame != null) {
                seen++;
                final MemorySegment copy = read(stream, frame);
                stream.synchronize();
                assertEquals(-1, copy.mismatch(frames[(int) frame.frameId() % 50]), () -> "frame " + frame.frameId());
            }
        }
        stream.close();
        // The number of expired frames depends on the machine.
        assertTrue(!"latest".equals(delivery) || (seen > 0 && offered > seen), "some were dropped");
        assertEquals(breaksAt > 0, nic.copies == breaksAt);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "|fastcopy-max=64k"})
    void shouldBeUsedOnlyWhereTheChannelAsksForIt(final String keys) {
        device.mapFailure = "delayed:0: gdr_map: errno 12, BAR1 is too small";
        start(0, keys);
        assertEquals(
                "staged (no direct: transport fifo receives into host memory only; no fastcopy: " + device.mapFailure
                        + "; no loopback: used only where placement=loopback asks for it)",
                subscriber.placement().orElseThrow().toString());
        deliver(20);
        assertEquals(0, nic.copies);
    }

    @Test
    void shouldBeRefusedWhereMemoryIsNotToBeActedOn() {
        launch(0, LOOPBACK + "|one-sided=off");
        for (int i = 0; subscriber.state() == Subscriber.State.JOINING; i++) {
            cycle(i);
        }
        final String failure = subscriber.failure().orElseThrow();
        assertTrue(failure.contains("placement: loopback cannot be used here: one-sided=off; "), failure);
    }

    /// Refuses each request to the NIC in turn: one line reports it.
    @Test
    void shouldSayWhyWhenTheNicRefuses() {
        int refused = 0;
        int failed = 0;
        boolean wasRefused = true;
        while (wasRefused) {
            device = new DelayedDevice();
            device.mapFailure = "nothing maps";
            nic = new LateNic(device::writeRemotely);
            nic.refusesFrom = refused++;
            counters = StreamFixture.countersFile();
            launch(0, LOOPBACK);
            for (int i = 0;
                    publisher.readySubscribers() == 0 && subscriber.failure().isEmpty();
                    i++) {
                cycle(i);
            }
            wasRefused = nic.asked > nic.refusesFrom;
            if (subscriber.failure().isPresent()) {
                final String failure = subscriber.failure().get();
                assertTrue(failure.contains("placement: loopback cannot be used here: ibv_"), failure);
                assertTrue(failure.contains("; placement=auto takes a placement that works"), failure);
                failed++;
            } else {
                deliver(3);
            }
            subscriber.close();
            for (int i = 0; device.allocatedBytes() > 0; i++) {
                cycle(i);
            }
            node.close();
            assertEquals(0, nic.leases, "left by request " + refused);
            assertEquals(0, nic.open(), "left by request " + refused);
        }
        assertTrue(refused > 5, refused + " requests refused");
        assertTrue(failed > 0);
    }
}
