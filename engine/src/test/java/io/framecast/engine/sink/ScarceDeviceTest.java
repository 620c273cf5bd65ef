package io.framecast.engine.sink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.FifoNetwork;
import io.framecast.engine.memory.HostProvider;
import io.framecast.engine.node.TestNode;
import io.framecast.engine.testing.DelayedDevice;
import io.framecast.engine.testing.FifoProvider;
import io.framecast.engine.testing.LateNic;
import io.framecast.engine.testing.ScriptedTransport;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A device that refuses its first, second, third … request and all later ones: the affected user gets one line,
/// the others receive every byte, and every resource obtained before is freed. On the test's thread.
@Tag("campaign")
class ScarceDeviceTest {
    private static final int CYCLES_MAX = 5_000_000;
    // More than any case requests.
    private static final int REQUESTS_MAX = 20_000;
    private static final int FRAME_BYTES = 150_000;
    private static final String GROUP = "framecast:verbs?group=224.20.30.41:5000|window=64k|frame-max=" + FRAME_BYTES;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment sent = arena.allocate(FRAME_BYTES);
    private final StringBuilder notices = new StringBuilder();
    private Framecast node;
    private Publisher publisher;
    private DelayedDevice device;
    private LateNic nic;

    private void launch(final int refusesFrom, final boolean loops) {
        device = new DelayedDevice();
        device.refusesFrom = refusesFrom;
        final FifoNetwork network = new FifoNetwork(5, FifoNetwork.Faults.NONE);
        network.reaching(device::writeRemotely);
        device.offersAccess = true;
        nic = new LateNic(device::writeRemotely);
        nic.lag = 3;
        final FifoProvider provider = new FifoProvider(network);
        final NodeConfig config =
                NodeConfig.DEFAULT.withThreading(Threading.INVOKER).withSeed(11).withNotices(notices::append);
        node = TestNode.launch(
                config,
                List.of(loops ? new ScriptedTransport(provider).with(nic) : provider),
                List.of(device, new HostProvider()));
    }

    @AfterEach
    void close() {
        arena.close();
    }

    private void cycle(final int count) {
        assertTrue(count < CYCLES_MAX, () -> "no progress, " + device.asked + " requests, " + publisher.stats());
        node.doWork();
    }

    @ParameterizedTest
    @ValueSource(strings = {"staged", "fastcopy|fastcopy-max=64k", "fastcopy", "direct", "loopback", "auto"})
    void shouldTellInOneLineAndGiveBackEveryPartWhenTheDeviceHasNoMore(final String placement) {
        int refused = 0;
        while (subscribe(refused, placement)) {
            refused++;
        }
        // Device memory, pinned memory, streams and events, each of them refused once.
        assertTrue(refused > 10, refused + " requests refused");
    }

    // Returns whether a request was refused.
    private boolean subscribe(final int refusesFrom, final String placement) {
        launch(refusesFrom, "loopback".equals(placement));
        final Subscriber scarce = node.subscribe(Channel.parse(GROUP + "|device=emulated|placement=" + placement));
        final Subscriber other = node.subscribe(Channel.parse(GROUP + "|device=host"));
        publisher = node.publish(Channel.parse(GROUP + "|device=host"));
        int cycles = 0;
        while (other.state() != Subscriber.State.READY
                || (scarce.failure().isEmpty() && scarce.state() != Subscriber.State.READY)) {
            cycle(cycles++);
        }
        for (int id = 0; id < 3; id++) {
            publish(id, scarce, other);
        }
        final boolean wasRefused = device.asked > refusesFrom;
        scarce.failure().ifPresent(line -> {
            assertTrue(line.contains("OUT_OF_MEMORY"), line);
            assertFalse(line.contains("\n"), line);
        });
        assertTrue(wasRefused || scarce.failure().isEmpty(), () -> "" + scarce.failure());
        scarce.close();
        while (!device.resources().toString().isEmpty() && device.isOpen()) {
            cycle(cycles++);
        }
        node.close();
        assertEquals("", device.leftAtClose, "left by request " + refusesFrom);
        assertEquals(0, nic.leases, "left by request " + refusesFrom);
        assertEquals(0, nic.open(), "left by request " + refusesFrom);
        assertEquals(0, device.allocatedBytes());
        return wasRefused;
    }

    private void publish(final int id, final @Nullable Subscriber scarce, final Subscriber other) {
        sent.fill((byte) (id + 1));
        boolean taken = false;
        for (int i = 0; true; i++) {
            cycle(i);
            taken = taken || publisher.offer(sent, FrameOptions.DEFAULT) > 0;
            if (scarce != null) {
                giveBack(scarce.poll());
            }
            final DeviceFrame frame = other.poll();
            if (frame != null) {
                assertEquals(id, frame.frameId());
                assertEquals(-1, frame.region().host().mismatch(sent));
                frame.close();
                return;
            }
        }
    }

    private static void giveBack(final @Nullable DeviceFrame frame) {
        if (frame != null) {
            frame.close();
        }
    }

    @Test
    void shouldGiveBackEveryPartOfASourceWhenTheDeviceHasNoMore() {
        int refused = 0;
        while (offer(refused)) {
            refused++;
        }
        assertTrue(refused > 5, refused + " requests refused");
    }

    private boolean offer(final int refusesFrom) {
        launch(REQUESTS_MAX, false);
        publisher = node.publish(Channel.parse(GROUP + "|device=emulated"));
        final Subscriber other = node.subscribe(Channel.parse(GROUP + "|device=host"));
        int cycles = 0;
        while (other.state() != Subscriber.State.READY) {
            cycle(cycles++);
        }
        // The user's own memory, so that only the engine's requests are refused.
        final DeviceRegion memory = device.allocate(FRAME_BYTES);
        final DeviceEvent written = device.openEvent();
        final int before = device.asked;
        device.refusesFrom = before + refusesFrom;
        String line = "";
        try {
            publisher.offer(memory, written, FrameOptions.DEFAULT);
        } catch (final DeviceException e) {
            line = e.getMessage();
        }
        final boolean wasRefused = device.asked > device.refusesFrom;
        assertEquals(line.isEmpty(), !line.contains("OUT_OF_MEMORY"), line);
        // Without registration of the window copies are slower, and right: a notice reports it.
        assertTrue(line.isEmpty() ? !wasRefused || notices.toString().contains("send window: ") : wasRefused);
        if (!line.isEmpty()) {
            // A stream in host memory goes on.
            publish(0, null, other);
        }
        node.close();
        // The user's own.
        assertEquals("1 regions, 1 events", device.leftAtClose, "left by request " + refusesFrom);
        return wasRefused;
    }
}
