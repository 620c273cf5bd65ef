package io.framecast.samples.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceSourceReport;
import io.framecast.api.FrameOptions;
import io.framecast.api.Publisher;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.gpu.emulated.EmulatedConfig;
import io.framecast.gpu.emulated.EmulatedProvider;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Frames that the transport `verbs` gathers from the memory of a device: a libibverbs without devices reads
/// it by a descriptor, or by address, and its copies are late. Two subscribers in host memory.
final class VerbsDeviceSourceTest {
    private static final int FRAME_MAX = 200_000;
    private static final int READ_MAX = 5_000;
    private static final int GATHER_MAX = 100_000;
    private static final int[] LENGTHS = {
        1,
        64,
        1_999,
        2_000,
        2_001,
        4_032,
        4_033,
        READ_MAX - 1,
        READ_MAX,
        READ_MAX + 1,
        33_333,
        GATHER_MAX - 1,
        GATHER_MAX,
        GATHER_MAX + 1,
        FRAME_MAX
    };
    private static final String BOTH = "|fastcopy-read-max=" + READ_MAX + "|gather-max=" + GATHER_MAX;
    private static final String GATHERED = "framecast_gathered_bytes_total";
    private static final String LOADED = "framecast_loaded_bytes_total";
    private static final String COPIED = "framecast_copied_out_bytes_total";
    private static final EmulatedConfig EXPORTING = EmulatedConfig.DEFAULT
            .withMemory(256L << 20)
            .withDisorder(new EmulatedConfig.Disorder(7, 2_000_000))
            .withExports();

    @TempDir
    private static Path directory;

    private static StandInVerbs standIn;

    private String sizes = "|window=512k|frame-max=" + FRAME_MAX;
    private int[] lengths = LENGTHS;
    private final StreamNodes nodes = new StreamNodes(directory, id -> lengths[id % lengths.length]);
    private Publisher publisher;
    private DeviceStream stream;

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
        EmulatedProvider.configure(EXPORTING);
        standIn.set("takes_dma_buf", 1);
    }

    @AfterEach
    void close() {
        nodes.close();
        EmulatedProvider.configure(EmulatedConfig.DEFAULT);
        List.of("takes_dma_buf", "drop_every").forEach(name -> standIn.set(name, 0));
    }

    private Channel channel(final String keys, final int nic) {
        return Channel.parse("framecast:verbs?group=239.77.5.9:4200" + sizes + "|interface=standin" + nic + keys);
    }

    private void open(final double loss, final String keys) {
        for (int i = 0; i < 2; i++) {
            nodes.subscribe(loss, channel("|device=host", i));
        }
        publisher = nodes.node(0).publish(channel("|device=emulated:0" + keys, 2));
        stream = publisher.device().openStream();
        nodes.await(() -> publisher.readySubscribers() == 2, "subscribers");
    }

    // The publisher's node comes third.
    private long count(final String name) {
        return nodes.count(2, name);
    }

    private DeviceEvent write(final int id, final DeviceRegion target) {
        final DeviceEvent written = publisher.device().openEvent();
        stream.copyToDevice(target.address(), nodes.frame(id), 0, nodes.length(id));
        stream.record(written);
        return written;
    }

    private void publishClaimed(final int frames) {
        final DeviceRegion[] claimed = new DeviceRegion[1];
        final DeviceEvent[] written = new DeviceEvent[1];
        nodes.publish(0, frames, id -> {
            if (claimed[0] == null) {
                claimed[0] = publisher.tryClaimDevice(nodes.length(id));
                if (claimed[0] == null) {
                    return false;
                }
                written[0] = write(id, claimed[0]);
            }
            final boolean taken = publisher.offer(claimed[0], written[0], FrameOptions.DEFAULT) > 0;
            claimed[0] = taken ? null : claimed[0];
            return taken;
        });
    }

    private void end() {
        assertTrue(publisher.close(Duration.ofSeconds(60)));
    }

    private void awaitCount(final String name, final long expected) {
        nodes.await(() -> count(name) >= expected, name);
        assertEquals(expected, count(name));
    }

    private long bytes(final int frames, final int above, final int upTo) {
        long sum = 0;
        for (int id = 0; id < frames; id++) {
            sum += nodes.length(id) > above && nodes.length(id) <= upTo ? nodes.length(id) : 0;
        }
        return sum;
    }

    /// By a descriptor, and by address; what is lost is sent again from the same place.
    @ParameterizedTest
    @CsvSource({"false, 0, 0", "false, 0.03, 0", "false, 0, 61", "true, 0, 0", "true, 0.03, 0"})
    void shouldSendEachLengthItsWay(final boolean byAddress, final double loss, final int dropEvery) {
        if (byAddress) {
            EmulatedProvider.configure(EmulatedConfig.DEFAULT.withDisorder(EXPORTING.disorder()));
            standIn.set("takes_dma_buf", 0);
        }
        open(loss, (byAddress ? "?peermem" : "") + BOTH);
        standIn.set("drop_every", dropEvery);
        final DeviceSourceReport report = publisher.deviceReport().orElseThrow();
        assertEquals(READ_MAX, report.readMaxBytes());
        assertEquals(GATHER_MAX, report.gatherMaxBytes());
        assertEquals(List.of(), report.refused());
        final int frames = 5 * LENGTHS.length;
        publishClaimed(frames);
        awaitCount(LOADED, bytes(frames, 0, READ_MAX));
        awaitCount(GATHERED, bytes(frames, READ_MAX, GATHER_MAX));
        awaitCount(COPIED, bytes(frames, GATHER_MAX, FRAME_MAX));
        end();
    }

    /// Nothing is copied to the host: the limits are measured, and a mapping is refused.
    @Test
    void shouldMeasureUpToWhichLengthTheNicIsFaster() {
        open(0, "");
        final DeviceSourceReport report = publisher.deviceReport().orElseThrow();
        assertEquals(0, report.readMaxBytes());
        assertTrue(report.gatherMaxBytes() > 0, report::toString);
        assertTrue(
                report.refused().getFirst().startsWith("no read: an emulated device is mapped only"), report::toString);
        publishClaimed(LENGTHS.length);
        nodes.await(() -> count(GATHERED) + count(COPIED) == bytes(LENGTHS.length, 0, FRAME_MAX), "counts");
        end();
    }

    /// Reads of a GPU's memory are slow: from some length on the copy engine is faster.
    @Test
    void shouldMeasureUpToWhichLengthReadsAreFaster() {
        EmulatedProvider.configure(
                EXPORTING.withDisorder(EmulatedConfig.Disorder.NONE).withMappedReads(20_000_000));
        open(0.03, "|gather-max=0");
        final DeviceSourceReport report = publisher.deviceReport().orElseThrow();
        final int readMax = (int) report.readMaxBytes();
        assertTrue(readMax < 1 << 20, report::toString);
        assertEquals(readMax == 0 ? 2 : 1, report.refused().size(), report::toString);
        lengths = new int[] {1, Math.max(1, readMax), readMax + 1, Math.min(FRAME_MAX, 2 * readMax + 7)};
        publishClaimed(10 * lengths.length);
        awaitCount(LOADED, bytes(10 * lengths.length, 0, readMax));
        awaitCount(COPIED, bytes(10 * lengths.length, readMax, FRAME_MAX));
        end();
    }

    /// The user's own memory stays the publisher's until all have the frame; and is found registered then.
    @ParameterizedTest
    @CsvSource({"0", "0.03"})
    void shouldSendMemoryThatIsLent(final double loss) {
        open(loss, "|gather-max=1m");
        final int frames = 6 * LENGTHS.length;
        final DeviceRegion[] buffers = new DeviceRegion[4];
        for (int i = 0; i < buffers.length; i++) {
            buffers[i] = publisher.device().allocate(FRAME_MAX);
            assertFalse(publisher.isLent(buffers[i]));
        }
        final DeviceEvent[] written = new DeviceEvent[1];
        nodes.publish(0, frames, id -> {
            final DeviceRegion buffer = buffers[id % buffers.length];
            if (written[0] == null) {
                if (publisher.isLent(buffer)) {
                    return false;
                }
                written[0] = write(id, buffer);
            }
            final DeviceRegion frame = buffer.slice(0, nodes.length(id));
            final boolean taken = publisher.lend(frame, written[0], FrameOptions.DEFAULT) > 0;
            written[0] = taken ? null : written[0];
            return taken;
        });
        nodes.await(() -> !publisher.isLent(buffers[0]) && !publisher.isLent(buffers[3]), "the buffers");
        // Those that share datagrams are copied there.
        nodes.await(() -> count(GATHERED) + count(COPIED) == bytes(frames, 0, FRAME_MAX), "counts");
        assertTrue(count(COPIED) <= bytes(frames, 0, 4_032), () -> "" + count(COPIED));
        nodes.await(() -> count("framecast_registration_hits_total") > 2L * LENGTHS.length, "registrations found");
        publisher.device().free(buffers[0]);
        final DeviceEvent never = publisher.device().openEvent();
        assertThrows(IllegalArgumentException.class, () -> publisher.lend(buffers[0], never, FrameOptions.DEFAULT));
        end();
    }

    /// Its frames are copied, and the NIC is asked once.
    @Test
    void shouldAskForMemoryThatTheNicRefusesOnce() {
        open(0, "|gather-max=1m");
        standIn.set("takes_dma_buf", 0);
        final long before = standIn.count("refusals");
        final int frames = 6 * LENGTHS.length;
        final DeviceRegion buffer = publisher.device().allocate(FRAME_MAX);
        final DeviceEvent[] written = new DeviceEvent[1];
        nodes.publish(0, frames, id -> {
            written[0] = written[0] == null ? write(id, buffer) : written[0];
            final DeviceRegion frame = buffer.slice(0, nodes.length(id));
            final boolean taken = publisher.lend(frame, written[0], FrameOptions.DEFAULT) > 0;
            written[0] = taken ? null : written[0];
            assertFalse(publisher.isLent(buffer));
            return taken;
        });
        awaitCount(COPIED, bytes(frames, 0, FRAME_MAX));
        assertEquals(before + 1, standIn.count("refusals"));
        assertEquals(
                1,
                nodes.notices().stream()
                        .filter(line -> line.startsWith("source memory: frames are copied: "))
                        .count());
        end();
    }

    /// Readers of the window do not take what does not lie there: they ask for it.
    @Test
    void shouldLeaveGatheredFramesToNacks() {
        open(0.05, "|gather-max=1m");
        nodes.await(() -> count("framecast_linked_members") == 2, "links");
        publishClaimed(5 * LENGTHS.length);
        nodes.await(() -> count("framecast_sent_repairs_total") > 0, "repairs");
        end();
    }

    @Tag("campaign")
    @Test
    void shouldSendFramesUpToTheLongest() {
        EmulatedProvider.configure(EXPORTING.withMemory(2L << 30));
        final int most = 128 << 20;
        final int gatherMax = 100_000_000;
        sizes = "|window=192m|ring-max=2g|frames-held=1|frame-max=" + most;
        lengths = new int[] {most, 1, READ_MAX, READ_MAX + 1, 1 << 20, 33_554_431, gatherMax, gatherMax + 1, most - 1};
        open(0, "|fastcopy-read-max=" + READ_MAX + "|gather-max=" + gatherMax);
        publishClaimed(lengths.length);
        awaitCount(LOADED, bytes(lengths.length, 0, READ_MAX));
        awaitCount(GATHERED, bytes(lengths.length, READ_MAX, gatherMax));
        awaitCount(COPIED, bytes(lengths.length, gatherMax, most));
        end();
    }

    @Test
    void shouldGiveClaimsBack() {
        open(0, BOTH);
        final DeviceRegion first = publisher.tryClaimDevice(FRAME_MAX);
        final DeviceRegion second = publisher.tryClaimDevice(FRAME_MAX);
        assertNotNull(first);
        assertNotNull(second);
        assertThrows(IllegalArgumentException.class, () -> publisher.abortDevice(first.slice(256, 100)));
        publisher.abortDevice(second);
        publisher.abortDevice(first);
        assertThrows(IllegalArgumentException.class, () -> publisher.abortDevice(first));
        final DeviceRegion sent = publisher.tryClaimDevice(GATHER_MAX);
        assertNotNull(sent);
        lengths = new int[] {GATHER_MAX};
        assertTrue(publisher.offer(sent, write(0, sent), FrameOptions.DEFAULT) > 0);
        assertThrows(IllegalArgumentException.class, () -> publisher.abortDevice(sent), "it is being sent");
        nodes.await(() -> nodes.pollAll(1), "the frame");
        for (int i = 0; i < 100; i++) {
            final DeviceRegion again = publisher.tryClaimDevice(FRAME_MAX);
            assertNotNull(again);
            publisher.abortDevice(again);
        }
        final IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> publisher.tryClaimDevice(FRAME_MAX + 1L));
        assertTrue(e.getMessage().startsWith("frame-max: expected"), e::getMessage);
    }
}
