package io.framecast.engine.publish;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameClaim;
import io.framecast.api.FrameOptions;
import io.framecast.api.NodeConfig;
import io.framecast.api.NodeConfig.Threading;
import io.framecast.api.Publisher;
import io.framecast.api.Subscriber;
import io.framecast.api.spi.FifoNetwork;
import io.framecast.api.spi.LaneKind;
import io.framecast.engine.node.FramecastNode;
import io.framecast.engine.node.TestNode;
import io.framecast.engine.testing.FifoProvider;
import io.framecast.engine.testing.ScriptedTransport;
import io.framecast.testing.FrameBytes;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A source whose transport has accepted datagrams and not read them, like a stalled device, while no member's
/// missing ACK keeps the window from wrapping. All on the test's thread.
class LateReadStreamTest {
    private static final int CYCLES_MAX = 5_000_000;
    private static final int WINDOW_SLOTS = 64;
    private static final int LENGTH = 4_000;

    private final FrameClaim claim = new FrameClaim();
    private FramecastNode node;
    private Set<LaneKind> asleep;
    private Publisher publisher;
    private Subscriber subscriber;
    private int offered;
    private int polled;

    private void start(final String delivery, final double loss) {
        final NodeConfig config =
                NodeConfig.DEFAULT.withThreading(Threading.INVOKER).withSeed(11);
        final FifoNetwork network = new FifoNetwork(5, new FifoNetwork.Faults(loss, 0, 0));
        final ScriptedTransport late = new ScriptedTransport(new FifoProvider(network)).late(1 << 16);
        asleep = late.asleep;
        node = TestNode.launch(config, late);
        final Channel channel = Channel.parse("framecast:verbs?group=224.20.30.41:5000|window=200k|device=host"
                + "|frame-max=" + LENGTH + "|delivery=" + delivery);
        publisher = node.publish(channel);
        subscriber = node.subscribe(channel);
        for (int i = 0; publisher.readySubscribers() < 1; i++) {
            cycle(i);
        }
    }

    @AfterEach
    void close() {
        node.close();
    }

    private void cycle(final int count) {
        assertTrue(count < CYCLES_MAX, () -> "no progress: " + publisher.stats() + subscriber.stats() + offered);
        node.doWork();
        final DeviceFrame frame = subscriber.poll();
        if (frame != null) {
            final int id = (int) frame.frameId();
            assertEquals(LENGTH, frame.length());
            FrameBytes.require(id, frame.region().host(), LENGTH);
            polled++;
            frame.close();
        }
    }

    /// Writes the next frame's bytes into the window, and does not commit them.
    private boolean isClaimed() {
        if (publisher.tryClaim(LENGTH, claim) <= 0) {
            return false;
        }
        FrameBytes.write(offered, claim.segment().asSlice(0, LENGTH));
        return true;
    }

    private void commit() {
        claim.commit(FrameOptions.DEFAULT);
        offered++;
    }

    @ParameterizedTest
    @ValueSource(strings = {"latest", "deadline=60s"})
    void shouldDeliverTheBytesThatWereSentWhereTheyAreReadLate(final String delivery) {
        start(delivery, 0);
        asleep.addAll(EnumSet.of(LaneKind.DATA, LaneKind.REPAIR));
        for (int i = 0; offered < WINDOW_SLOTS && isClaimed(); i++) {
            commit();
            cycle(i);
        }
        assertEquals(0, polled);
        // Into the slot that is read next, whose header is still that of the frame before.
        final boolean isReused = isClaimed();
        asleep.clear();
        for (int i = 0; polled == 0; i++) {
            cycle(i);
        }
        assertTrue(offered < WINDOW_SLOTS, "the window went round before it was read");
        assertTrue(!isReused);
    }

    @Test
    void shouldKeepWhatIsToBeSentAgainUntilItWasRead() {
        start("latest", 0.2);
        asleep.add(LaneKind.REPAIR);
        int cycles = 0;
        while (publisher.stats().repairedDatagrams() == 0) {
            if (isClaimed()) {
                commit();
            }
            cycle(cycles++);
        }
        int refusals = 0;
        final int before = offered;
        while (refusals < 1_000) {
            if (isClaimed()) {
                commit();
                refusals = 0;
            } else {
                refusals++;
            }
            cycle(cycles++);
            assertTrue(offered - before < WINDOW_SLOTS, "the window went round before it was read");
        }
        asleep.clear();
        final int taken = polled;
        for (int i = 0; polled < taken + 200; i++) {
            if (isClaimed()) {
                commit();
            }
            cycle(i);
        }
    }
}
