package io.framecast.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.UnixOperatingSystemMXBean;
import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.PlacementOptions;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.spi.FifoNetwork;
import io.framecast.engine.aeron.AeronTransportProvider;
import io.framecast.engine.memory.HostProvider;
import io.framecast.engine.metrics.CounterReader;
import io.framecast.engine.node.TestNode;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.testing.DelayedDevice;
import io.framecast.engine.testing.FifoProvider;
import io.framecast.engine.testing.ScriptedTransport;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.engine.udp.UdpTransportProvider;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.receive.ReceiverConfig;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Memory stays what [MemoryNeeds] says, from the first frame to the last, under loss, joins and leaves.
class MemoryBoundsTest {
    private static final String SETTINGS = "|mtu=1500|window=1m|frame-max=500000|device=";
    private static final long RESIDENT_GROWTH_MAX = 48L << 20;
    private static final long HEAP_GROWTH_MAX = 8L << 20;

    private final Path counters = StreamFixture.countersFile();
    private final Arena arena = Arena.ofShared();
    private Framecast node;

    @AfterEach
    void close() {
        node.close();
        arena.close();
    }

    private void launch(final ScriptedTransport transport, final DeviceBackendProvider device, final double loss) {
        final NodeConfig config = NodeConfig.DEFAULT
                .withThreading(Threading.INVOKER)
                .withSeed(6)
                .withCountersFile(counters)
                .withFaults(new NodeConfig.Faults(loss));
        node = TestNode.launch(config, List.of(transport), List.of(device));
    }

    private void until(final BooleanSupplier condition) {
        for (int i = 0; !condition.getAsBoolean(); i++) {
            assertTrue(i < 20_000_000, "no progress");
            node.doWork();
        }
    }

    private void stream(final Publisher publisher, final Subscriber subscriber, final int frames) {
        final MemorySegment frame = arena.allocate(400_000);
        final int[] polled = new int[1];
        for (int i = 0; i < frames; i++) {
            until(() -> {
                polled[0] += subscriber.poll(DeviceFrame::close, 10);
                return publisher.offer(frame, FrameOptions.DEFAULT) > 0;
            });
        }
        until(() -> (polled[0] += subscriber.poll(DeviceFrame::close, 10)) == frames);
    }

    @Tag("campaign")
    @Test
    void shouldTakeFromTheDeviceWhatIsSaidAndNoMoreUnderLoss() {
        final DelayedDevice device = new DelayedDevice();
        launch(new ScriptedTransport(new UdpTransportProvider()), device, 0.02);
        final Channel channel = StreamFixture.channel("udp", SETTINGS + "emulated");
        final Publisher publisher = node.publish(channel);
        final Subscriber subscriber = node.subscribe(channel);
        until(() -> publisher.readySubscribers() == 1);
        stream(publisher, subscriber, 1);
        final long deviceBytes = device.allocatedBytes();
        final long pinnedBytes = device.pinnedBytes();
        stream(publisher, subscriber, 60);
        until(() -> subscriber.stats().repairedDatagrams() > 100);
        assertEquals(deviceBytes, device.allocatedBytes());
        assertEquals(pinnedBytes, device.pinnedBytes());
        final MemoryNeeds needs = MemoryNeeds.subscriber(shape(), PlacementOptions.Kind.STAGED, 0);
        assertEquals(needs.deviceBytes(), device.allocatedBytes());
        // Unpinned memory of the host: a header and lists for each receive and repair slot, and the control rings.
        final MemoryShape shape = shape();
        final long headers = (shape.stagingSlots() + shape.repairSlots()) * (long) DataLayout.LENGTH;
        final long lists = MemoryNeeds.listBytes(shape.stagingSlots()) + MemoryNeeds.listBytes(shape.repairSlots());
        assertEquals(needs.hostBytes() - headers - lists - ControlLane.memoryBytes(0), device.pinnedBytes());
    }

    private static MemoryShape shape() {
        final StreamInfo stream = new StreamInfo(1, "default", 1408, 1024, 500_000, 5_000, new byte[0], new byte[0]);
        final int ringSlots = (int) (ReceiverConfig.ringSlotsMin(stream, 2) + 63) / 64 * 64;
        return MemoryShape.of(stream, MemoryShape.Kind.STAGED, ringSlots, 0, false, 2);
    }

    @Tag("campaign")
    @ParameterizedTest
    @ValueSource(strings = {"udp", "aeron", "verbs"})
    void shouldGiveEverythingBackWhenFiftySubscribersComeAndGo(final String name) throws IOException {
        final ScriptedTransport transport = new ScriptedTransport(
                switch (name) {
                    case "udp" -> new UdpTransportProvider();
                    case "aeron" -> new AeronTransportProvider();
                    default -> new FifoProvider(FifoNetwork.lossless());
                });
        launch(transport, new HostProvider(), 0);
        final Channel channel = StreamFixture.channel(name, SETTINGS + "host");
        final Publisher publisher = node.publish(channel);
        comeAndGo(channel, publisher, 10);
        final int peers = transport.peers();
        final long series = series();
        final long maps = rings();
        final long files = openFiles();
        awaitSteady(name, () -> comeAndGo(channel, publisher, 50));
        assertEquals(peers, transport.peers());
        assertEquals(0, peers, "addresses of those who left");
        assertEquals(series, series());
        assertEquals(maps, rings());
        if ("udp".equals(name)) {
            // Aeron's driver closes sockets some seconds later.
            assertTrue(openFiles() <= files + 2, () -> files + " open files before, now " + openFiles());
        }
    }

    // A leak grows with every fifty. The heap touches pages for the first time in some of them.
    private static void awaitSteady(final String name, final Runnable fifty) throws IOException {
        String grown = "";
        for (int i = 0; i < 8; i++) {
            final long heap = heapBytes();
            final long resident = residentBytes();
            fifty.run();
            final long heapGrowth = heapBytes() - heap;
            final long residentGrowth = residentBytes() - resident;
            if (heapGrowth < HEAP_GROWTH_MAX && (!"udp".equals(name) || residentGrowth < RESIDENT_GROWTH_MAX)) {
                return;
            }
            grown += heapGrowth + " bytes of heap and " + residentGrowth + " resident; ";
        }
        throw new AssertionError("fifty subscribers leave behind: " + grown);
    }

    private void comeAndGo(final Channel channel, final Publisher publisher, final int times) {
        for (int i = 0; i < times; i++) {
            try (Subscriber subscriber = node.subscribe(channel)) {
                until(() -> publisher.readySubscribers() == 1);
                stream(publisher, subscriber, 2);
            }
            until(() -> publisher.readySubscribers() == 0);
        }
        for (int i = 0; i < 100; i++) {
            node.doWork();
        }
    }

    private long series() {
        try (CounterReader reader = CounterReader.open(counters)) {
            return reader.samples().size();
        }
    }

    private static long rings() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("framecast-ring")).count();
        }
    }

    private static long residentBytes() throws IOException {
        System.gc();
        try (var lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith("VmRSS"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                    .sum();
        }
    }

    private static long heapBytes() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static long openFiles() {
        return ((UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getOpenFileDescriptorCount();
    }
}
