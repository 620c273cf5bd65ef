package io.framecast.engine.sink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.FifoNetwork;
import io.framecast.engine.memory.HostProvider;
import io.framecast.engine.node.TestNode;
import io.framecast.engine.testing.DelayedDevice;
import io.framecast.engine.testing.FifoProvider;
import io.framecast.engine.testing.LateNic;
import io.framecast.engine.testing.ScriptedTransport;
import io.framecast.testing.FrameBytes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.AfterEach;

/// A source and a subscriber of one node over a FIFO transport, into a device whose work is late, with a NIC
/// whose work is late too. All on the test's thread.
abstract class LateDeviceFixture {
    private static final int CYCLES_MAX = 50_000_000;

    DelayedDevice device = new DelayedDevice();
    LateNic nic = new LateNic(device::writeRemotely);
    final Arena arena = Arena.ofShared();
    Framecast node;
    Publisher publisher;
    Subscriber subscriber;

    /// @param loops whether the transport offers one-sided operations, by the NIC
    final void launch(final NodeConfig config, final FifoNetwork network, final boolean loops) {
        device.offersAccess |= loops;
        final FifoProvider provider = new FifoProvider(network);
        node = TestNode.launch(
                config.withThreading(NodeConfig.Threading.INVOKER).withSeed(11),
                List.of(loops ? new ScriptedTransport(provider).with(nic) : provider),
                List.of(device, new HostProvider()));
    }

    /// @param settings of the channel, each behind a bar
    final void join(final String settings) {
        final Channel channel = Channel.parse("framecast:verbs?group=224.20.30.41:5000" + settings);
        publisher = node.publish(channel);
        subscriber = node.subscribe(channel);
    }

    final void awaitReady() {
        for (int i = 0; publisher.readySubscribers() == 0; i++) {
            cycle(i);
        }
    }

    /// @param count number of cycles that the caller has waited
    final void cycle(final int count) {
        assertTrue(
                count < CYCLES_MAX,
                () -> "no progress: " + subscriber.stats() + publisher.stats() + subscriber.state()
                        + subscriber.failure() + publisher.failure());
        nic.tick();
        node.doWork();
    }

    final MemorySegment frame(final int id, final long bytes) {
        return FrameBytes.write(id, arena.allocate(bytes));
    }

    @AfterEach
    final void giveEverythingBack() {
        node.close();
        arena.close();
        assertEquals(0, device.allocatedBytes());
        // Streams, events and buffers may belong to the user.
        assertFalse(device.leftAtClose.matches(".*(pinned|mappings|exports|registrations).*"), device.leftAtClose);
        assertEquals(0, nic.leases);
        assertEquals(0, nic.open());
    }
}
