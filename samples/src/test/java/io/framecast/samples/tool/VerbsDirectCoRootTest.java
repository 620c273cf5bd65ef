package io.framecast.samples.tool;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.FrameOptions;
import io.framecast.api.Publisher;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.gpu.emulated.EmulatedConfig;
import io.framecast.gpu.emulated.EmulatedProvider;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Sixteen subscribers whose payloads a NIC writes into device memory, over a libibverbs without devices:
/// those that are co-roots serve from a replica that the source writes.
@Tag("campaign")
final class VerbsDirectCoRootTest {
    private static final int SUBSCRIBERS = 16;
    private static final int FRAME_MAX = 20_000;
    private static final int FRAMES = 400;
    private static final String SERVED = "framecast_served_members";

    @TempDir
    private static Path directory;

    private static StandInVerbs standIn;

    private final StreamNodes nodes = new StreamNodes(directory, id -> 1 + (int) (id * 48_611L % FRAME_MAX));

    @BeforeAll
    static void compile() {
        standIn = StandInVerbs.install();
    }

    @AfterAll
    static void forget() {
        StandInVerbs.uninstall();
    }

    @BeforeEach
    void export() {
        EmulatedProvider.configure(EmulatedConfig.DEFAULT.withMemory(256L << 20).withExports());
        standIn.set("takes_dma_buf", 1);
    }

    @AfterEach
    void close() {
        nodes.close();
        EmulatedProvider.configure(EmulatedConfig.DEFAULT);
        standIn.set("takes_dma_buf", 0);
    }

    private static Channel channel(final int nic, final String keys) {
        return Channel.parse("framecast:verbs?group=239.77.5.9:4200|window=256k|frame-max=" + FRAME_MAX
                + "|interface=standin" + nic + keys);
    }

    // The short ones are sent from there, and the replicas of co-roots lack them; others are copied.
    private void publishFromDevice(final Publisher publisher, final int from, final int end) {
        final DeviceRegion[] claimed = new DeviceRegion[1];
        try (DeviceStream stream = publisher.device().openStream();
                DeviceEvent written = publisher.device().openEvent()) {
            nodes.publish(from, end, id -> {
                if (claimed[0] == null) {
                    final MemorySegment frame = nodes.frame(id);
                    claimed[0] = publisher.tryClaimDevice(frame.byteSize());
                    if (claimed[0] == null) {
                        return false;
                    }
                    stream.copyToDevice(claimed[0].address(), frame, 0, frame.byteSize());
                    stream.record(written);
                }
                final boolean taken = publisher.offer(claimed[0], written, FrameOptions.DEFAULT) > 0;
                claimed[0] = taken ? null : claimed[0];
                return taken;
            });
        }
    }

    private void publish(final Publisher publisher, final boolean gathers, final int from, final int end) {
        if (gathers) {
            publishFromDevice(publisher, from, end);
        } else {
            nodes.publish(publisher, from, end);
        }
    }

    private int coRoot() {
        for (int s = 0; s < SUBSCRIBERS; s++) {
            if (!nodes.isGone(s) && nodes.count(s, SERVED) > 0) {
                return s;
            }
        }
        throw new AssertionError("no subscriber serves others");
    }

    @ParameterizedTest
    @CsvSource({"2, host", "4, host", "4, emulated:0|gather-max=8000"})
    void shouldServeOthersFromAReplicaThatTheSourceWrites(final int coRoots, final String source) {
        final double loss = 0.02;
        for (int s = 0; s < SUBSCRIBERS; s++) {
            nodes.subscribe(loss, channel(s % 2, "|device=emulated:" + s + "|placement=direct"));
        }
        final Publisher publisher = nodes.node(0).publish(channel(2, "|device=" + source + "|co-roots=" + coRoots));
        nodes.await(() -> publisher.readySubscribers() == SUBSCRIBERS, "subscribers");
        final boolean gathers = !source.equals("host");
        nodes.await(() -> nodes.sum(SERVED) == SUBSCRIBERS - coRoots, "sets");
        publish(publisher, gathers, 0, FRAMES);
        nodes.await(() -> nodes.sum("framecast_feed_taken_datagrams_total") > 0, "datagrams that the source wrote");
        nodes.await(
                () -> nodes.sum("framecast_set_pulled_datagrams_total") + nodes.sum("framecast_sent_set_repairs_total")
                        > 0,
                "repairs by co-roots");
        nodes.leave(coRoot());
        publish(publisher, gathers, FRAMES, 2 * FRAMES);
        nodes.await(() -> nodes.sum(SERVED) > 0, "sets");
        assertTrue(publisher.close(Duration.ofSeconds(60)));
    }
}
