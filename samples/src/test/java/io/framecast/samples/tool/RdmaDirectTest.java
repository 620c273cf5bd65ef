package io.framecast.samples.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.Publisher;
import io.framecast.api.SubscriberStats;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// As [VerbsDirectTest] on a stand-in, on the RDMA devices of the kernel: they write payloads into the memory of an
/// emulated GPU, which they know by its addresses, with loss; the lab's streams show the same without, and copies by
/// the device. In the lab alone.
@Tag("rdma")
final class RdmaDirectTest {
    private static final int FRAME_MAX = 200_000;
    private static final int LENGTH = FRAME_MAX - 100;
    private static final int FRAMES = 120;
    // Of datagrams: 49 are a frame, and a receiver has to aim again behind each that is lost.
    private static final double LOSS = 0.002;

    @TempDir
    private static Path directory;

    private final StreamNodes nodes = new StreamNodes(directory, _ -> LENGTH);

    @BeforeEach
    void look() {
        Assumptions.assumeTrue("1".equals(System.getenv("FRAMECAST_LAB")), "not in the lab");
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    private static Channel channel(final String device, final int nic) {
        return Channel.parse("framecast:verbs?group=239.77.5.9:4200|window=512k|alive-timeout=20000|frame-max="
                + FRAME_MAX + "|interface=rxe" + nic + "|device=" + device);
    }

    private Publisher open() {
        for (int i = 0; i < 2; i++) {
            nodes.subscribe(LOSS, channel("emulated:" + i + "?peermem|placement=direct", i + 1));
        }
        final Publisher publisher = nodes.node(0).publish(channel("host", 3));
        nodes.await(() -> publisher.readySubscribers() == 2, "subscribers");
        return publisher;
    }

    private void end(final Publisher publisher) {
        assertTrue(publisher.close(Duration.ofMinutes(2)));
    }

    @Test
    void shouldLandInPostedBuffers() {
        final Publisher publisher = open();
        nodes.postBuffers(32, FRAME_MAX);
        nodes.publish(publisher, 0, FRAMES);
        for (int s = 0; s < 2; s++) {
            // Each frame is there, by the NIC or by one copy.
            assertEquals(FRAMES, nodes.inBuffers(s));
            final SubscriberStats stats = nodes.subscriber(s).stats();
            assertTrue(stats.inPlaceFrames() > 0, stats::toString);
        }
        end(publisher);
    }
}
