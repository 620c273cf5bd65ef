package io.framecast.engine.sink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.Subscriber;
import io.framecast.api.error.ConfigException;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.FifoNetwork;
import io.framecast.engine.auth.TestKeys;
import io.framecast.engine.node.TestNode;
import io.framecast.engine.subscribe.PostedBuffers;
import io.framecast.engine.subscribe.SessionQueue;
import io.framecast.engine.testing.FifoProvider;
import io.framecast.engine.testing.StreamFixture;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Streams over a FIFO transport that loses, duplicates and reorders, into a device that the host cannot
/// address and whose copies are late. The ring is short and plain: many frames wrap around its end. All on
/// the test's thread.
class StagedStreamTest extends LateDeviceFixture {
    private static final String SETTINGS = "|window=64k|frame-max=150000|frames-held=1|device=";
    // The ring is longer than the 16 MiB of receive buffers.
    private static final String LARGE = "|window=4m|frame-max=12000000|frames-held=1|device=";

    private void start(final FifoNetwork.Faults faults, final double loss, final String settings) {
        final FifoNetwork network = new FifoNetwork(5, faults);
        if (settings.contains("direct") || device.offersAccess) {
            device.offersAccess = true;
            network.reaching(device::writeRemotely);
        }
        launch(NodeConfig.DEFAULT.withFaults(new NodeConfig.Faults(loss)), network, settings.contains("loopback"));
        join(settings);
        awaitReady();
    }

    // The user's, where it posts any.
    private DeviceRegion[] buffers = {};
    private int inBuffers;
    // By earlier calls.
    private int taken;

    // Of all frames; 0 where each has another.
    private int lengths;

    private static long length(final int id) {
        return 1 + (id * 48_611L) % 150_000;
    }

    private MemorySegment frame(final int id) {
        return frame(id, 1);
    }

    private MemorySegment frame(final int id, final int scale) {
        return frame(id, scale * length(id));
    }

    /// One frame on its way out of the device on a stream, released before that copy has begun.
    private record Copy(int id, MemorySegment bytes) {}

    @ParameterizedTest
    @CsvSource({
        "0, 0, emulated",
        "0.02, 0, emulated",
        "0.02, 0.02, emulated",
        "0.02, 0, host",
        "0, 0, emulated|placement=fastcopy|fastcopy-max=64k",
        "0.02, 0.02, emulated|placement=fastcopy|fastcopy-max=20k",
        "0.02, 0, emulated|placement=fastcopy|fastcopy-max=1m",
        "0, 0, emulated|placement=direct",
        "0.02, 0, emulated|placement=direct",
        "0.02, 0.02, emulated|placement=direct",
        "0, 0, emulated|placement=loopback",
        "0.02, 0.02, emulated|placement=loopback"
    })
    void shouldDeliverEveryByteWhenCopiesAreLateAndFramesAreReleasedOnStreams(
            final double networkFaults, final double loss, final String kind) {
        start(new FifoNetwork.Faults(networkFaults, networkFaults, networkFaults), loss, SETTINGS + kind);
        deliver(120, 1);
        final boolean staged = kind.startsWith("emulated") && !kind.contains("direct");
        assertEquals(
                staged,
                subscriber.stats().inPlaceFrames() == 120,
                "the ring's end and losses cost staged frames nothing");
        assertEquals(kind.contains("direct"), device.gathered > 0, "runs of a frame go together");
        assertEquals(kind.contains("loopback"), nic.copies > 100);
    }

    @ParameterizedTest
    @ValueSource(strings = {"direct", "loopback"})
    void shouldFindTheBytesThatWereNotFlushedWhenAFlushIsLeftOut(final String placement) {
        start(FifoNetwork.Faults.NONE, 0, SETTINGS + "emulated|placement=" + placement);
        device.flushes = false;
        assertThrows(AssertionError.class, () -> deliver(40, 1));
    }

    @ParameterizedTest
    @CsvSource({
        "0, emulated",
        "0, emulated|placement=fastcopy|fastcopy-max=16k",
        "0.01, emulated|placement=fastcopy|fastcopy-max=100k",
        "0.01, emulated|placement=direct",
        "0, emulated|placement=loopback",
        "0.01, emulated|placement=loopback"
    })
    void shouldKeepOtherFramesWholeWhenSomeAreClosedBeforeTheirCopiesRan(final double faults, final String kind) {
        start(new FifoNetwork.Faults(faults, faults, faults), 0, SETTINGS + kind);
        final DeviceStream stream = subscriber.device().openStream();
        final List<Copy> copies = new ArrayList<>();
        int offered = 0;
        MemorySegment next = frame(0);
        for (int i = 0, polled = 0; polled < 90; i++) {
            cycle(i);
            if (offered < 90 && publisher.offer(next, FrameOptions.DEFAULT) > 0) {
                next = frame(++offered);
            }
            final DeviceFrame frame = subscriber.poll();
            if (frame != null) {
                final int id = polled++;
                if (id % 3 == 0) {
                    final MemorySegment host = arena.allocate(frame.length());
                    stream.await(frame.ready());
                    stream.copyToHost(host, 0, frame.region().address(), frame.length());
                    frame.release(stream);
                    copies.add(new Copy(id, host));
                } else {
                    frame.close();
                }
            }
        }
        stream.synchronize();
        for (final Copy copy : copies) {
            assertEquals(-1, copy.bytes().mismatch(frame(copy.id())), () -> "frame " + copy.id());
        }
        stream.close();
    }

    @ParameterizedTest
    @CsvSource({"emulated, 0", "emulated|placement=loopback, 0", "emulated|placement=loopback, 30"})
    void shouldNotOverwriteStagingMemoryWhenCopiesLagBehind(final String kind, final int breaksAt) {
        start(FifoNetwork.Faults.NONE, 0, LARGE + kind);
        for (int i = 0; i < 200; i++) {
            cycle(i);
        }
        nic.lag = 2_000;
        nic.breaksAt = breaksAt > 0 ? breaksAt : Integer.MAX_VALUE;
        deliver(6, 80);
    }

    /// The user posts each buffer again as soon as the stream that reads the frame in it has come that far.
    @ParameterizedTest
    @CsvSource({
        "0, emulated",
        "0.02, emulated",
        "0.02, emulated|placement=fastcopy|fastcopy-max=20k",
        "0.02, emulated|placement=loopback",
        "0.02, emulated|placement=direct",
        "0.02, host"
    })
    void shouldReceiveIntoTheUsersBuffers(final double faults, final String kind) {
        start(new FifoNetwork.Faults(faults, faults, faults), faults, SETTINGS + kind);
        buffers = new DeviceRegion[6];
        for (int b = 0; b < buffers.length; b++) {
            buffers[b] = subscriber.device().allocate(150_000);
        }
        deliver(120, 1);
        assertTrue(inBuffers > 60, () -> inBuffers + " of 120 frames lie in the user's buffers");
        final long copied = 120 - subscriber.stats().inPlaceFrames();
        final boolean staged = kind.startsWith("emulated") && !kind.contains("direct");
        assertTrue(staged ? copied < inBuffers / 2 : copied >= inBuffers, () -> copied + " frames were copied on");
        for (final DeviceRegion buffer : buffers) {
            subscriber.device().free(buffer);
        }
    }

    /// Receives that were queued before the buffers were posted take the first frames.
    @ParameterizedTest
    @ValueSource(doubles = {0, 0.02})
    void shouldLandInTheUsersBuffersUnderDirect(final double faults) {
        start(new FifoNetwork.Faults(faults, faults, faults), 0, SETTINGS + "emulated|placement=direct");
        buffers = new DeviceRegion[24];
        for (int b = 0; b < buffers.length; b++) {
            buffers[b] = device.allocate(150_000);
        }
        lengths = 100_000;
        deliver(40, 1);
        final long before = copiedBytes();
        deliver(60, 1);
        final long copied = copiedBytes() - before;
        assertEquals(100, inBuffers);
        assertTrue(
                faults == 0 ? copied == 0 : copied > 0 && before > 0,
                () -> copied + " bytes were copied, " + before + " before: " + subscriber.stats() + publisher.stats());
    }

    private long copiedBytes() {
        StreamFixture.awaitStats(() -> cycle(0));
        return subscriber.stats().reassembledBytes();
    }

    private void post() {
        for (final DeviceRegion buffer : buffers) {
            if (!subscriber.isPosted(buffer)) {
                assertTrue(subscriber.post(buffer));
            }
        }
    }

    private boolean isInBuffer(final DeviceFrame frame) {
        return Arrays.stream(buffers)
                .anyMatch(buffer -> buffer.address() == frame.region().address());
    }

    private long bytes(final int id, final int scale) {
        return lengths == 0 ? scale * length(id) : lengths;
    }

    private void deliver(final int frames, final int scale) {
        final DeviceStream stream = subscriber.device().openStream();
        final Deque<Copy> copies = new ArrayDeque<>();
        int offered = 0;
        int polled = 0;
        MemorySegment next = frame(taken, bytes(taken, scale));
        for (int i = 0; polled < frames; i++) {
            cycle(i);
            if (offered < frames && publisher.offer(next, FrameOptions.DEFAULT) > 0) {
                offered++;
                next = frame(taken + offered, bytes(taken + offered, scale));
            }
            post();
            final DeviceFrame frame = subscriber.poll();
            if (frame != null) {
                inBuffers += isInBuffer(frame) ? 1 : 0;
                assertEquals(taken + polled, frame.frameId());
                assertEquals(bytes(taken + polled, scale), frame.length());
                final MemorySegment host = arena.allocate(frame.length());
                stream.await(frame.ready());
                stream.copyToHost(host, 0, frame.region().address(), frame.length());
                frame.release(stream);
                frame.close();
                copies.add(new Copy(taken + polled, host));
                polled++;
            }
        }
        stream.synchronize();
        for (final Copy copy : copies) {
            assertEquals(
                    -1, copy.bytes().mismatch(frame(copy.id(), bytes(copy.id(), scale))), () -> "frame " + copy.id());
        }
        assertEquals(frames, copies.size());
        taken += frames;
        stream.close();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            value = {
                "false # # staged (no direct: transport fifo receives into host memory only; no fastcopy: not offered; no loopback:"
                        + " used only where placement=loopback asks for it)",
                "false # |placement=staged # staged",
                "false # |placement=fastcopy|fastcopy-max=64k # fastcopy up to 65536 bytes",
                "true # # direct",
                "true # |placement=direct # direct"
            })
    void shouldReportItsPlacementAndWhyNotABetterOne(
            final boolean offered, final String placement, final String reported) {
        device.offersAccess = offered;
        start(FifoNetwork.Faults.NONE, 0, SETTINGS + "emulated" + (placement == null ? "" : placement));
        assertEquals(reported, subscriber.placement().orElseThrow().toString());
    }

    @Test
    void shouldSayWhichPlacementItTookWherePayloadsAreEncrypted() {
        device.offersAccess = true;
        start(FifoNetwork.Faults.NONE, 0, SETTINGS + "emulated" + TestKeys.options("auth"));
        assertEquals(
                "staged (no direct: auth= encrypts payloads, which are decrypted in host memory; payloads=unprotected at"
                        + " both ends lets the NIC write them into the device)",
                subscriber.placement().orElseThrow().toString());
        deliver(20, 1);
    }

    @Test
    void shouldWriteIntoTheDeviceWherePayloadsAreUnprotected() {
        device.offersAccess = true;
        start(FifoNetwork.Faults.NONE, 0, SETTINGS + "emulated|placement=direct" + TestKeys.options("unprotected"));
        assertEquals("direct", subscriber.placement().orElseThrow().toString());
        deliver(20, 1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"auth", "cipher"})
    void shouldRefuseToWriteEncryptedPayloadsIntoTheDevice(final String seal) {
        device.offersAccess = true;
        final NodeConfig config = NodeConfig.DEFAULT.withThreading(Threading.INVOKER);
        node = TestNode.launch(config, List.of(new FifoProvider(FifoNetwork.lossless())), List.of(device));
        final Channel channel = Channel.parse("framecast:verbs?group=224.20.30.41:5000" + SETTINGS
                + "emulated|placement=direct" + TestKeys.options(seal));
        publisher = node.publish(channel);
        final ConfigException refused = assertThrows(ConfigException.class, () -> node.subscribe(channel));
        assertEquals(
                "placement: direct cannot be used: auth= encrypts payloads, which are decrypted in host memory;"
                        + " payloads=unprotected at both ends lets the NIC write them into the device",
                refused.getMessage());
    }

    @Test
    void shouldGoOnWithCopiesWhenADeviceThatOffersMappingsMapsNothing() {
        device.mapFailure = "delayed:0: gdr_pin_buffer: errno 12, use another placement";
        start(FifoNetwork.Faults.NONE, 0, SETTINGS + "emulated");
        assertEquals(
                "staged (no direct: transport fifo receives into host memory only; no fastcopy: " + device.mapFailure
                        + "; no loopback: used only where placement=loopback asks for it)",
                subscriber.placement().orElseThrow().toString());
        deliver(20, 1);
    }

    @Test
    void shouldMeasureHowLongTheCpuStoresFasterWhenNotTold() {
        start(FifoNetwork.Faults.NONE, 0, SETTINGS + "emulated|placement=fastcopy");
        final long most = subscriber.placement().orElseThrow().fastcopyMaxBytes();
        // Copies are late in this device, stores are not.
        assertTrue(most >= 256, "" + most);
        deliver(20, 1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            value = {
                "direct # transport fifo receives into host memory only",
                "loopback # transport fifo has no one-sided reads"
            })
    void shouldRefuseInOneLineWhenTheWayThatIsNamedCannotBeTaken(final String kind, final String reason) {
        final NodeConfig config = NodeConfig.DEFAULT.withThreading(Threading.INVOKER);
        node = TestNode.launch(config, List.of(new FifoProvider(FifoNetwork.lossless())), List.of(device));
        final Channel channel =
                Channel.parse("framecast:verbs?group=224.20.30.41:5000" + SETTINGS + "emulated|placement=" + kind);
        publisher = node.publish(channel);
        subscriber = node.subscribe(channel);
        for (int i = 0; subscriber.state() == Subscriber.State.JOINING; i++) {
            cycle(i);
        }
        assertEquals(Subscriber.State.FAILED, subscriber.state());
        assertEquals(
                "placement: " + kind + " cannot be used here: " + reason
                        + "; placement=auto takes a placement that works",
                subscriber.failure().orElseThrow().replaceFirst("^join of [a-z]+: ", ""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "|placement=fastcopy|fastcopy-max=64k", "|placement=direct", "|placement=loopback"})
    void shouldLandInPostedBuffersOfTheDevice(final String placement) {
        start(FifoNetwork.Faults.NONE, 0, SETTINGS + "emulated" + placement);
        final DeviceStream stream = subscriber.device().openStream();
        final DeviceRegion[] buffers = new DeviceRegion[4];
        for (int b = 0; b < buffers.length; b++) {
            buffers[b] = device.allocate(150_000);
            assertTrue(subscriber.post(buffers[b]));
        }
        for (int id = 0; id < buffers.length; id++) {
            final MemorySegment sent = frame(id);
            DeviceFrame frame = null;
            boolean taken = false;
            for (int i = 0; frame == null; i++) {
                cycle(i);
                taken = taken || publisher.offer(sent, FrameOptions.DEFAULT) > 0;
                frame = subscriber.poll();
            }
            assertEquals(buffers[id].address(), frame.region().address());
            final MemorySegment host = arena.allocate(frame.length());
            frame.awaitReady();
            stream.copyToHost(host, 0, frame.region().address(), frame.length());
            stream.synchronize();
            assertEquals(-1, host.mismatch(sent));
            frame.close();
        }
        stream.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "|placement=fastcopy|fastcopy-max=64k", "|placement=direct", "|placement=loopback"})
    void shouldFillPostedBuffersWhenFramesAreClosedBeforeTheirCopiesRan(final String placement) {
        start(FifoNetwork.Faults.NONE, 0, SETTINGS + "emulated" + placement);
        final int frames = 40;
        final DeviceRegion[] buffers = new DeviceRegion[frames];
        final long[] addresses = new long[frames];
        for (int b = 0; b < frames; b++) {
            buffers[b] = device.allocate(150_000);
            assertTrue(subscriber.post(buffers[b]));
        }
        int offered = 0;
        for (int i = 0, polled = 0; polled < frames; i++) {
            cycle(i);
            offered += offered < frames && publisher.offer(frame(offered), FrameOptions.DEFAULT) > 0 ? 1 : 0;
            final DeviceFrame frame = subscriber.poll();
            if (frame != null) {
                addresses[polled++] = frame.region().address();
                frame.close();
            }
        }
        assertEquals(
                Arrays.stream(buffers).mapToLong(DeviceRegion::address).boxed().collect(Collectors.toSet()),
                Arrays.stream(addresses).boxed().collect(Collectors.toSet()));
        // Copies out of the ring that are still in flight complete.
        final DeviceEvent progress = device.openEvent();
        for (int asked = 0; asked < 50_000; asked++) {
            assertTrue(progress.isComplete());
        }
        progress.close();
        final DeviceStream stream = subscriber.device().openStream();
        for (int id = 0; id < frames; id++) {
            final MemorySegment host = arena.allocate(length(id));
            stream.copyToHost(host, 0, addresses[id], host.byteSize());
            stream.synchronize();
            assertEquals(-1, host.mismatch(frame(id)), "frame " + id);
        }
        stream.close();
    }

    @Test
    void shouldFreeItsMemoryWhenTheDeviceIsLostBeforeAStreamIsDoneWithAFrame() {
        start(FifoNetwork.Faults.NONE, 0, SETTINGS + "emulated");
        final DeviceStream stream = subscriber.device().openStream();
        final MemorySegment sent = frame(3);
        assertTrue(publisher.offer(sent, FrameOptions.DEFAULT) > 0);
        DeviceFrame frame = null;
        for (int i = 0; frame == null; i++) {
            cycle(i);
            frame = subscriber.poll();
        }
        frame.release(stream);
        closeAfterLoss();
        stream.close();
    }

    @Test
    void shouldFreeItsMemoryWhenTheDeviceIsLostBeforeABundleIsOpened() {
        start(FifoNetwork.Faults.NONE, 0, SETTINGS + "emulated|placement=direct");
        for (int id = 0; id < 20; id++) {
            assertTrue(publisher.offer(small(id), FrameOptions.DEFAULT) > 0);
        }
        closeAfterLoss();
    }

    private void closeAfterLoss() {
        device.failure = "cuEventQuery: CUDA_ERROR_LAUNCH_FAILED (719), start the process again";
        for (int i = 0; subscriber.state() != Subscriber.State.FAILED; i++) {
            cycle(i);
        }
        subscriber.close();
        for (int i = 0; device.allocatedBytes() > 0; i++) {
            assertTrue(i < 100_000, "memory of a lost device is kept for frames that no user holds");
            node.doWork();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "|placement=fastcopy|fastcopy-max=64k", "|placement=direct", "|placement=loopback"})
    void shouldFailInOneLineAndHarmNobodyElseWhenTheDeviceFails(final String placement) {
        start(FifoNetwork.Faults.NONE, 0, SETTINGS + "emulated" + placement);
        final Subscriber other = node.subscribe(
                publisher.channel().withStream(publisher.channel().stream().withDevice("host")));
        for (int i = 0; publisher.readySubscribers() < 2; i++) {
            cycle(i);
        }
        device.failure = "cuEventQuery: CUDA_ERROR_LAUNCH_FAILED (719), start the process again";
        int offered = 0;
        int polled = 0;
        for (int i = 0; polled < 30; i++) {
            cycle(i);
            offered += offered < 30 && publisher.offer(frame(offered), FrameOptions.DEFAULT) > 0 ? 1 : 0;
            final DeviceFrame frame = other.poll();
            if (frame != null) {
                assertEquals(-1, frame.region().host().mismatch(frame(polled)), "frame " + polled);
                polled++;
                frame.close();
            }
        }
        assertEquals(Subscriber.State.FAILED, subscriber.state());
        assertTrue(subscriber.failure().orElseThrow().endsWith(device.failure), () -> "" + subscriber.failure());
        assertEquals(Subscriber.State.READY, other.state());
        subscriber.close();
        for (int i = 0; !device.resources().toString().isEmpty(); i++) {
            cycle(i);
        }
    }

    @Test
    void shouldTakeABoundedNumberOfBuffersOfItsDeviceAndNoOther() {
        start(FifoNetwork.Faults.NONE, 0, SETTINGS + "emulated");
        final DeviceRegion host = DeviceRegion.ofHost(arena.allocate(150_000));
        assertTrue(assertThrows(IllegalArgumentException.class, () -> subscriber.post(host))
                .getMessage()
                .startsWith("post: expected memory of delayed:0, got the host's"));
        final DeviceRegion buffers = device.allocate((PostedBuffers.POSTED_MAX + 1) * 150_000L);
        int posted = 0;
        while (subscriber.post(buffers.slice(posted * 150_000L, 150_000))) {
            posted++;
        }
        assertEquals(PostedBuffers.POSTED_MAX, posted);
    }

    @Test
    void shouldWorkOnTheStreamThatFramesOffer() {
        start(FifoNetwork.Faults.NONE, 0, SETTINGS + "emulated");
        for (int id = 0; id < 20; id++) {
            final MemorySegment sent = frame(id);
            DeviceFrame frame = null;
            boolean taken = false;
            for (int i = 0; frame == null; i++) {
                cycle(i);
                taken = taken || publisher.offer(sent, FrameOptions.DEFAULT) > 0;
                frame = subscriber.poll();
            }
            final MemorySegment host = arena.allocate(frame.length());
            final DeviceStream stream = frame.stream();
            stream.copyToHost(host, 0, frame.region().address(), frame.length());
            frame.release(stream);
            stream.synchronize();
            assertEquals(-1, host.mismatch(sent), "frame " + id);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "false, emulated",
        "true, emulated",
        "false, emulated|placement=loopback",
        "true, emulated|placement=loopback"
    })
    void shouldKeepHeldFrameReadableWhenSubscriberCloses(final boolean released, final String kind) {
        start(FifoNetwork.Faults.NONE, 0, SETTINGS + kind);
        final DeviceStream stream = subscriber.device().openStream();
        final MemorySegment sent = frame(3);
        assertTrue(publisher.offer(sent, FrameOptions.DEFAULT) > 0);
        DeviceFrame frame = null;
        for (int i = 0; frame == null; i++) {
            cycle(i);
            frame = subscriber.poll();
        }
        final MemorySegment host = arena.allocate(frame.length());
        if (released) {
            stream.await(frame.ready());
            stream.copyToHost(host, 0, frame.region().address(), frame.length());
            frame.release(stream);
        }
        subscriber.close();
        for (int i = 0; i < 10; i++) {
            node.doWork();
        }
        if (!released) {
            assertTrue(device.allocatedBytes() > 0);
            stream.await(frame.ready());
            stream.copyToHost(host, 0, frame.region().address(), frame.length());
            stream.synchronize();
            frame.close();
        }
        for (int i = 0; device.allocatedBytes() > 0; i++) {
            cycle(i);
        }
        assertEquals(-1, host.mismatch(sent));
    }

    private MemorySegment small(final int id) {
        return frame(id, 1).asSlice(0, Math.min(length(id), 1 + id % 400));
    }

    @ParameterizedTest
    @CsvSource({
        "0, emulated",
        "0.02, emulated",
        "0.02, host",
        "0.02, emulated|placement=fastcopy|fastcopy-max=64k",
        "0, emulated|placement=direct",
        "0.02, emulated|placement=direct",
        "0.02, emulated|placement=loopback"
    })
    void shouldDeliverSmallFramesThatShareDatagrams(final double faults, final String kind) {
        start(new FifoNetwork.Faults(faults, faults, faults), faults, SETTINGS + kind);
        final int frames = 2000;
        final DeviceStream stream = subscriber.device().openStream();
        final List<MemorySegment> copies = new ArrayList<>();
        int offered = 0;
        for (int i = 0; copies.size() < frames; i++) {
            cycle(i);
            for (int burst = 0; burst < i % 50 && offered < frames; burst++) {
                offered += publisher.offer(small(offered), FrameOptions.DEFAULT) > 0 ? 1 : 0;
            }
            for (DeviceFrame frame = subscriber.poll(); frame != null; frame = subscriber.poll()) {
                assertEquals(copies.size(), frame.frameId());
                final MemorySegment host = arena.allocate(frame.length());
                stream.await(frame.ready());
                stream.copyToHost(host, 0, frame.region().address(), frame.length());
                frame.release(stream);
                copies.add(host);
            }
        }
        stream.synchronize();
        for (int id = 0; id < frames; id++) {
            assertEquals(-1, copies.get(id).mismatch(small(id)), "frame " + id);
        }
        assertTrue(publisher.stats().sentDatagrams() < frames / 2, () -> "" + publisher.stats());
        stream.close();
    }

    @Test
    void shouldFreeItsMemoryWhenTheSubscriberClosesWithinABundle() {
        // A window and a ring with room for all of them.
        start(FifoNetwork.Faults.NONE, 0, LARGE + "emulated");
        final MemorySegment sent = small(100);
        int offered = 0;
        for (int i = 0; offered < SessionQueue.FRAMES_MAX + 7; i++) {
            if (publisher.offer(sent, FrameOptions.DEFAULT) > 0) {
                offered++;
            } else {
                cycle(i);
            }
        }
        DeviceFrame frame = subscriber.poll();
        for (int i = 0; i < 2000 || frame == null; i++) {
            cycle(i);
            frame = frame == null ? subscriber.poll() : frame;
        }
        subscriber.close();
        frame.close();
        for (int i = 0; device.allocatedBytes() > 0; i++) {
            cycle(i);
        }
    }
}
