package io.framecast.engine.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.api.spi.FifoNetwork;
import io.framecast.api.spi.FifoTransport;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportConfig;
import io.framecast.api.spi.TransportProvider;
import io.framecast.engine.memory.HostProvider;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Streams over a FIFO transport that loses, duplicates and reorders, into a device that the host cannot
/// address and whose copies are late. The ring is short and plain: many frames wrap around its end. All on the
/// test's thread.
class StagedStreamTest {
    private static final int CYCLES_MAX = 50_000_000;
    private static final String SETTINGS = "|window=64k|frame-max=150000|frames-held=1|device=";
    // The ring is longer than the 16 MiB in which datagrams land.
    private static final String LARGE = "|window=4m|frame-max=12000000|frames-held=1|device=";

    private final DelayedDevice device = new DelayedDevice();
    private final Arena arena = Arena.ofShared();
    private Framecast node;
    private Publisher publisher;
    private Subscriber subscriber;

    private void start(final FifoNetwork.Faults faults, final double loss, final String settings) {
        final FifoNetwork network = new FifoNetwork(5, faults);
        final NodeConfig config = NodeConfig.DEFAULT
                .withThreading(Threading.INVOKER)
                .withSeed(11)
                .withFaults(new NodeConfig.Faults(loss));
        node = new FramecastNode(
                config,
                new Providers(config.notices(), List.of(new Fifo(network)), List.of(device, new HostProvider())));
        final Channel channel = Channel.parse("framecast:verbs?group=224.20.30.41:5000" + settings);
        publisher = node.publish(channel);
        subscriber = node.subscribe(channel);
        for (int i = 0; publisher.readySubscribers() == 0; i++) {
            cycle(i);
        }
    }

    @AfterEach
    void close() {
        node.close();
        arena.close();
        assertEquals(0, device.allocatedBytes());
        assertEquals(0, device.pinnedBytes());
    }

    private void cycle(final int count) {
        assertTrue(
                count < CYCLES_MAX,
                () -> "no progress: " + subscriber.stats() + publisher.stats() + subscriber.state()
                        + subscriber.failure() + publisher.failure());
        node.doWork();
    }

    private static long length(final int id) {
        return 1 + (id * 48_611L) % 150_000;
    }

    private MemorySegment frame(final int id) {
        return frame(id, 1);
    }

    private MemorySegment frame(final int id, final int scale) {
        final MemorySegment frame = arena.allocate(scale * length(id));
        for (long i = 0; i < frame.byteSize(); i++) {
            frame.set(ValueLayout.JAVA_BYTE, i, StreamFixture.value(id, i));
        }
        return frame;
    }

    /// One frame on its way out of the device on a stream, released before that copy has begun.
    private record Copy(int id, MemorySegment bytes) {}

    @ParameterizedTest
    @CsvSource({"0, 0, emulated", "0.02, 0, emulated", "0.02, 0.02, emulated", "0.02, 0, host"})
    void shouldDeliverEveryByteWhenCopiesAreLateAndFramesAreReleasedOnStreams(
            final double networkFaults, final double loss, final String kind) {
        start(new FifoNetwork.Faults(networkFaults, networkFaults, networkFaults), loss, SETTINGS + kind);
        deliver(120, 1);
        assertTrue(subscriber.stats().inPlaceFrames() < 120, "some frames wrap around the ring's end");
    }

    @Test
    void shouldNotOverwriteLandingMemoryWhenCopiesLagBehind() {
        start(FifoNetwork.Faults.NONE, 0, LARGE + "emulated");
        deliver(6, 80);
    }

    private void deliver(final int frames, final int scale) {
        final DeviceStream stream = subscriber.device().openStream();
        final Deque<Copy> copies = new ArrayDeque<>();
        int offered = 0;
        int polled = 0;
        MemorySegment next = frame(0, scale);
        for (int i = 0; polled < frames; i++) {
            cycle(i);
            if (offered < frames && publisher.offer(next, FrameOptions.DEFAULT) > 0) {
                offered++;
                next = frame(offered, scale);
            }
            final DeviceFrame frame = subscriber.poll();
            if (frame != null) {
                assertEquals(polled, frame.frameId());
                assertEquals(scale * length(polled), frame.length());
                final MemorySegment host = arena.allocate(frame.length());
                stream.await(frame.ready());
                stream.copyToHost(host, 0, frame.region().address(), frame.length());
                frame.release(stream);
                frame.close();
                copies.add(new Copy(polled, host));
                polled++;
            }
        }
        stream.synchronize();
        for (final Copy copy : copies) {
            assertEquals(-1, copy.bytes().mismatch(frame(copy.id(), scale)), () -> "frame " + copy.id());
        }
        assertEquals(frames, copies.size());
        stream.close();
    }

    @Test
    void shouldLandInPostedBuffersOfTheDevice() {
        start(FifoNetwork.Faults.NONE, 0, SETTINGS + "emulated");
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
    @ValueSource(booleans = {false, true})
    void shouldKeepHeldFrameReadableWhenSubscriberCloses(final boolean released) {
        start(FifoNetwork.Faults.NONE, 0, SETTINGS + "emulated");
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
    @CsvSource({"0, emulated", "0.02, emulated", "0.02, host"})
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
        for (int i = 0; offered < FrameExchange.FRAMES_MAX + 7; i++) {
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

    /// All transports of one network, as the provider the channel names.
    private record Fifo(FifoNetwork network) implements TransportProvider {
        @Override
        public String name() {
            return "verbs";
        }

        @Override
        public Optional<String> unavailable() {
            return Optional.empty();
        }

        @Override
        public int rank() {
            return 0;
        }

        @Override
        public Transport open(final TransportConfig config) {
            return new FifoTransport(network);
        }
    }
}
