package io.framecast.engine.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameOptions;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.SubscriberStats;
import io.framecast.api.provider.TransportProvider;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.FifoNetwork;
import io.framecast.engine.node.FramecastNode;
import io.framecast.engine.node.TestNode;
import io.framecast.engine.testing.FifoProvider;
import io.framecast.engine.testing.ScriptedTransport;
import io.framecast.engine.testing.StreamFixture;
import io.framecast.testing.FrameBytes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Streams into host memory over a transport with BY_ARRIVAL placement, whichever datagrams arrive. All on the
/// test's thread.
class FifoStreamTest {
    private static final int CYCLES_MAX = 5_000_000;
    private static final int LENGTH_MAX = 150_000;
    private static final String SETTINGS = "|window=64k|device=host|frame-max=" + LENGTH_MAX + "|frames-held=";

    private final Arena arena = Arena.ofShared();
    private final List<Receiving> receivers = new ArrayList<>();
    private FramecastNode node;
    private Publisher publisher;
    private int offered;

    private void start(final TransportProvider fifo, final double loss, final int framesHeld, final int subscribers) {
        final NodeConfig config = NodeConfig.DEFAULT
                .withThreading(Threading.INVOKER)
                .withSeed(11)
                .withFaults(new NodeConfig.Faults(loss));
        node = TestNode.launch(config, fifo);
        final Channel channel = Channel.parse("framecast:verbs?group=224.20.30.41:5000" + SETTINGS + framesHeld);
        publisher = node.publish(channel);
        for (int i = 0; i < subscribers; i++) {
            receivers.add(new Receiving(node.subscribe(channel), framesHeld));
        }
        for (int i = 0; publisher.readySubscribers() < subscribers; i++) {
            cycle(i);
        }
    }

    private static FifoProvider fifo(final double faults) {
        return new FifoProvider(new FifoNetwork(5, new FifoNetwork.Faults(faults, faults, faults)));
    }

    @AfterEach
    void close() {
        node.close();
        arena.close();
    }

    private void cycle(final int count) {
        assertTrue(count < CYCLES_MAX, () -> "no progress: " + publisher.stats() + receivers + offered);
        node.doWork();
    }

    /// A subscriber's user that holds as many frames as allowed, and releases the oldest for each new one.
    private static final class Receiving {
        private final Subscriber subscriber;
        private final Deque<DeviceFrame> held = new ArrayDeque<>();
        private final int heldMax;
        private int polled;

        Receiving(final Subscriber subscriber, final int heldMax) {
            this.subscriber = subscriber;
            this.heldMax = heldMax;
        }

        void poll(final Lengths lengths) {
            final DeviceFrame frame = subscriber.poll();
            if (frame == null) {
                return;
            }
            assertEquals(polled, frame.frameId());
            assertEquals(lengths.of(polled), frame.length());
            polled++;
            check(frame);
            held.add(frame);
            if (held.size() == heldMax) {
                giveBack();
            }
        }

        void giveBack() {
            final DeviceFrame oldest = held.remove();
            // No later datagram may have overwritten the frame.
            check(oldest);
            oldest.close();
        }

        static void check(final DeviceFrame frame) {
            FrameBytes.require((int) frame.frameId(), frame.region().host(), frame.length());
        }

        SubscriberStats stats() {
            return subscriber.stats();
        }

        @Override
        public String toString() {
            return "\n" + polled + " polled, " + held.size() + " held, " + subscriber.state() + subscriber.failure()
                    + stats();
        }
    }

    /// The lengths of the frames.
    @FunctionalInterface
    private interface Lengths {
        int of(int id);
    }

    private static int mixed(final int id) {
        return 1 + (int) ((id * 48_611L) % LENGTH_MAX);
    }

    private static int small(final int id) {
        return id % 7 == 3 ? 1 + id * 31 % 9_000 : 1 + id * 17 % 300;
    }

    private MemorySegment frame(final int id, final int length) {
        return FrameBytes.write(id, arena.allocate(length));
    }

    private void deliver(final int frames, final int burst, final Lengths lengths) {
        MemorySegment next = frame(offered, lengths.of(offered));
        for (int i = 0; receivers.stream().anyMatch(receiver -> receiver.polled < frames); i++) {
            for (int b = 0; b < burst && offered < frames; b++) {
                if (publisher.offer(next, FrameOptions.DEFAULT) < 0) {
                    break;
                }
                offered++;
                next = frame(offered, lengths.of(offered));
            }
            cycle(i);
            receivers.forEach(receiver -> receiver.poll(lengths));
        }
        for (final Receiving receiver : receivers) {
            while (!receiver.held.isEmpty()) {
                receiver.giveBack();
            }
        }
        StreamFixture.awaitStats(() -> cycle(0));
    }

    @Test
    void shouldCopyNothingWhenNothingIsLost() {
        start(fifo(0), 0, 2, 2);
        deliver(150, 1, FifoStreamTest::mixed);
        for (final Receiving receiver : receivers) {
            assertEquals(150, receiver.stats().inPlaceFrames(), receiver::toString);
            assertEquals(0, receiver.stats().reassembledBytes(), receiver::toString);
            assertEquals(0, receiver.stats().repairedDatagrams(), receiver::toString);
        }
    }

    @ParameterizedTest
    @CsvSource({"0.02, 0", "0, 0.03", "0.05, 0.05", "0.2, 0"})
    void shouldMendFramesWhenDatagramsAreLostDoubledAndOvertaken(final double faults, final double loss) {
        start(fifo(faults), loss, 2, 3);
        deliver(120, 1, FifoStreamTest::mixed);
        for (final Receiving receiver : receivers) {
            assertTrue(receiver.stats().repairedDatagrams() > 0, receiver::toString);
            assertTrue(receiver.stats().reassembledBytes() > 0, receiver::toString);
            assertTrue(receiver.stats().inPlaceFrames() > 0, receiver::toString);
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.03})
    void shouldDeliverSmallFramesThatShareDatagrams(final double faults) {
        start(fifo(faults), faults, 3, 2);
        deliver(3000, 40, FifoStreamTest::small);
        assertTrue(publisher.stats().sentDatagrams() < 3000, () -> "" + publisher.stats());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 5})
    void shouldGoOnWhenTheUserHoldsAllItMayAndAllOfThemWereReassembled(final int framesHeld) {
        start(fifo(0.3), 0, framesHeld, 1);
        deliver(60, 1, FifoStreamTest::mixed);
        assertTrue(receivers.getFirst().stats().inPlaceFrames() < 30, () -> "" + receivers);
    }

    @Test
    void shouldFollowALaneThatPostsSlotsAgainBehindTheOthers() {
        start(new ScriptedTransport(fifo(0)).dropping(0.02), 0, 2, 2);
        deliver(150, 1, FifoStreamTest::mixed);
        deliver(2000, 20, FifoStreamTest::small);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.02})
    void shouldDeliverWhenALaneHoldsFewerSlotsThanTheRing(final double faults) {
        final FifoNetwork network = new FifoNetwork(5, new FifoNetwork.Faults(faults, faults, faults));
        start(new ScriptedTransport(new FifoProvider(network, 40)).dropping(faults), 0, 2, 1);
        deliver(60, 1, FifoStreamTest::mixed);
        assertTrue(faults > 0 || receivers.getFirst().stats().repairedDatagrams() == 0, () -> "" + receivers);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.05})
    void shouldGoOnWhenDatagramsAreReadLongAfterTheyWereHandedOver(final double faults) {
        final FifoNetwork network = new FifoNetwork(5, new FifoNetwork.Faults(faults, 0, 0));
        start(new ScriptedTransport(new FifoProvider(network)).late(12), 0, 2, 2);
        deliver(60, 1, FifoStreamTest::mixed);
    }

    @Test
    void shouldLandInPostedBuffers() {
        start(fifo(0.05), 0, 2, 1);
        final Subscriber subscriber = receivers.getFirst().subscriber;
        final DeviceRegion buffers = subscriber.device().allocate(4L * LENGTH_MAX);
        for (int b = 0; b < 4; b++) {
            assertTrue(subscriber.post(buffers.slice((long) b * LENGTH_MAX, LENGTH_MAX)));
        }
        for (int id = 0; id < 6; id++) {
            final MemorySegment sent = frame(id, mixed(id));
            boolean taken = false;
            DeviceFrame frame = null;
            for (int i = 0; frame == null; i++) {
                cycle(i);
                taken = taken || publisher.offer(sent, FrameOptions.DEFAULT) > 0;
                frame = subscriber.poll();
            }
            assertEquals(id < 4, frame.region().address() == buffers.address() + (long) id * LENGTH_MAX);
            Receiving.check(frame);
            frame.close();
        }
        subscriber.device().free(buffers);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.3})
    void shouldKeepHeldFramesReadableWhenTheSubscriberCloses(final double faults) {
        start(fifo(faults), 0, 3, 1);
        final Receiving receiver = receivers.getFirst();
        MemorySegment next = frame(0, mixed(0));
        for (int i = 0; receiver.held.size() < 2; i++) {
            if (publisher.offer(next, FrameOptions.DEFAULT) > 0) {
                offered++;
                next = frame(offered, mixed(offered));
            }
            cycle(i);
            receiver.poll(FifoStreamTest::mixed);
        }
        receiver.subscriber.close();
        for (int i = 0; i < 20; i++) {
            node.doWork();
        }
        while (!receiver.held.isEmpty()) {
            receiver.giveBack();
        }
        for (int i = 0; !TestNode.receiver(node).isIdle(); i++) {
            cycle(i);
        }
    }
}
