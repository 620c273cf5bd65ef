package io.framecast.samples.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.Publisher;
import io.framecast.api.StreamConfig;
import io.framecast.api.Subscriber;
import io.framecast.api.SubscriberStats;
import io.framecast.gpu.emulated.EmulatedConfig;
import io.framecast.gpu.emulated.EmulatedProvider;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Payloads that the transport `verbs` lands in the memory of a device, or has its NIC copy there: a libibverbs
/// without devices writes by a descriptor into the emulated GPU, whose memory the host does not address. Two
/// subscribers, each with a device.
final class VerbsDirectTest {
    private static final int FRAME_MAX = 200_000;
    private static final String COPIED = "framecast_nic_copied_bytes_total";
    private static final String PULLED = "framecast_pulled_datagrams_total";
    // Copies are late: what they read must not be written again before.
    private static final EmulatedConfig EXPORTING = EmulatedConfig.DEFAULT
            .withMemory(256L << 20)
            .withDisorder(new EmulatedConfig.Disorder(7, 2_000_000))
            .withExports();

    @TempDir
    private static Path directory;

    private static StandInVerbs standIn;

    // Of all frames; 0 where each has another.
    private int sameLength;
    private final StreamNodes nodes = new StreamNodes(directory, this::length);

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

    private static Channel channel(final String device, final int nic) {
        return Channel.parse("framecast:verbs?group=239.77.5.9:4200|window=512k|frame-max=" + FRAME_MAX
                + "|interface=standin" + nic + "|device=" + device);
    }

    private Publisher open(final double loss, final String placement) {
        for (int i = 0; i < 2; i++) {
            nodes.subscribe(loss, channel("emulated:" + i + placement, i));
        }
        return nodes.node(0).publish(channel("host", 2));
    }

    private int length(final int id) {
        return sameLength > 0 ? sameLength : id % 3 == 2 ? 1 + id * 7 % 300 : 1 + (int) (id * 48_611L % FRAME_MAX);
    }

    private void deliver(final Publisher publisher, final int frames) {
        nodes.await(() -> publisher.readySubscribers() == 2, "subscribers");
        nodes.publish(publisher, 0, frames);
        end(publisher);
    }

    // The statistics of a subscriber are taken now and then, and at the stream's end.
    private void end(final Publisher publisher) {
        assertTrue(publisher.close(Duration.ofSeconds(60)));
        nodes.await(
                () -> nodes.subscribers().stream()
                        .allMatch(subscriber -> subscriber.state() == Subscriber.State.END_OF_STREAM),
                "the end");
    }

    // Without loss a frame is copied only where it passes the ring's end, at most one a round, for the lengths vary. A
    // machine that stalls may ask for a repair in vain, and the frame of a repair is copied: a stall is counted, not
    // timed.
    private void assertInPlace(final SubscriberStats stats) {
        final long ringBytes = (512L << 10) + (StreamConfig.DEFAULT.framesHeld() + 1L) * FRAME_MAX;
        // A frame takes whole slots, which are shorter than a datagram of the path's MTU.
        final long bytes =
                IntStream.range(0, 120).mapToLong(id -> length(id) + 4096L).sum();
        final long copies = bytes / ringBytes + stats.repairedDatagrams();
        assertTrue(stats.inPlaceFrames() >= 120 - copies, () -> copies + " copies at most: " + stats);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "|placement=direct"})
    void shouldLandFramesInDeviceMemoryInPlace(final String placement) {
        final Publisher publisher = open(0, placement);
        deliver(publisher, 120);
        for (final Subscriber subscriber : nodes.subscribers()) {
            assertEquals("direct", subscriber.placement().orElseThrow().toString());
            assertInPlace(subscriber.stats());
        }
        assertTrue(
                nodes.notices().contains("verbs: standin0 writes into device memory, registered by dma-buf"),
                () -> "" + nodes.notices());
    }

    /// The device's memory is registered by address, as nvidia-peermem has it, where the NIC takes no dma-buf.
    @ParameterizedTest
    @CsvSource({"direct, 0", "direct, 0.03", "loopback, 0", "loopback, 0.03", "staged, 0"})
    void shouldLandFramesInPeerMemory(final String placement, final double loss) {
        EmulatedProvider.configure(EmulatedConfig.DEFAULT);
        standIn.set("takes_dma_buf", 0);
        final Publisher publisher = open(loss, "?peermem|placement=" + placement);
        deliver(publisher, 120);
        for (final Subscriber subscriber : nodes.subscribers()) {
            assertEquals(placement, subscriber.placement().orElseThrow().kind().word());
            if (!placement.equals("direct")) {
                // The ring has a tail: a frame is copied to its place alone, with loss or without.
                assertEquals(
                        120,
                        subscriber.stats().inPlaceFrames(),
                        () -> subscriber.stats().toString());
            } else if (loss == 0) {
                assertInPlace(subscriber.stats());
            }
        }
        assertTrue(
                !placement.equals("direct")
                        || nodes.notices()
                                .contains(
                                        "verbs: standin0 writes into device memory, registered by address (nvidia-peermem)"),
                () -> "" + nodes.notices());
    }

    /// The NIC writes frames into the user's buffers, once the receives that were queued before are used: memory that
    /// it knows by address, or by a dma-buf that is exported for the registration.
    @ParameterizedTest
    @CsvSource({"true, 0, 0", "true, 0.03, 0", "true, 0, 61", "false, 0, 0", "false, 0.03, 0"})
    void shouldLandInPostedBuffers(final boolean byAddress, final double loss, final int dropEvery) {
        if (byAddress) {
            EmulatedProvider.configure(EmulatedConfig.DEFAULT);
            standIn.set("takes_dma_buf", 0);
        }
        sameLength = FRAME_MAX - 100;
        final Publisher publisher = open(loss, byAddress ? "?peermem|placement=direct" : "|placement=direct");
        nodes.await(() -> publisher.readySubscribers() == 2, "subscribers");
        nodes.postBuffers(32, FRAME_MAX);
        standIn.set("drop_every", dropEvery);
        nodes.publish(publisher, 0, 60);
        final long[] before = nodes.subscribers().stream()
                .mapToLong(subscriber -> subscriber.stats().inPlaceFrames())
                .toArray();
        nodes.publish(publisher, 60, 160);
        end(publisher);
        for (int s = 0; s < 2; s++) {
            final Subscriber subscriber = nodes.subscriber(s);
            final long copied = 100 - (subscriber.stats().inPlaceFrames() - before[s]);
            // Buffers that wait for receives which missed serve no other frame meanwhile.
            final long repaired = subscriber.stats().repairedDatagrams();
            assertTrue(
                    nodes.inBuffers(s) >= 160 - (dropEvery > 0 ? 40 : repaired),
                    nodes.inBuffers(s) + " frames in the user's buffers");
            assertTrue(before[s] < 60, "frames that came into the ring");
            final int node = s;
            nodes.await(
                    () -> loss + dropEvery > 0 || nodes.count(node, "framecast_registration_hits_total") > 100,
                    "buffers that were found registered");
            assertTrue(nodes.count(s, "framecast_memory_registrations_total") < 80, "32 buffers, and the rings");
            // A machine that stalls may ask for a repair in vain. Its frame is copied.
            assertTrue(
                    loss + dropEvery > 0 ? copied > 0 : copied <= repaired,
                    () -> copied + " frames were copied: " + subscriber.stats());
        }
    }

    @ParameterizedTest
    @CsvSource({"0.03, 0", "0, 61"})
    void shouldMendInTheDeviceWhatLossMisplaced(final double loss, final int dropEvery) {
        final Publisher publisher = open(loss, "|placement=direct");
        nodes.await(() -> publisher.readySubscribers() == 2, "subscribers");
        standIn.set("drop_every", dropEvery);
        deliver(publisher, 120);
        for (final Subscriber subscriber : nodes.subscribers()) {
            assertTrue(subscriber.stats().reassembledBytes() > 0, () -> "" + subscriber.stats());
            assertTrue(subscriber.stats().inPlaceFrames() > 0, () -> "" + subscriber.stats());
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "0.03, 0", "0, 61"})
    void shouldHaveTheNicCopyWhatArrivedInTheHost(final double loss, final int dropEvery) {
        final Publisher publisher = open(loss, "|placement=loopback");
        nodes.await(() -> publisher.readySubscribers() == 2, "subscribers");
        standIn.set("drop_every", dropEvery);
        deliver(publisher, 120);
        for (int s = 0; s < 2; s++) {
            final int node = s;
            assertEquals(
                    "loopback", nodes.subscriber(s).placement().orElseThrow().toString());
            nodes.await(() -> nodes.count(node, COPIED) > FRAME_MAX, "copies");
            assertEquals(0, nodes.count(s, "framecast_nic_copy_fallbacks_total", "broken"));
            assertEquals(0, nodes.count(s, "framecast_stored_bytes_total"));
        }
    }

    /// By the copy engine, by stores of the CPU, by a NIC.
    @ParameterizedTest
    @ValueSource(strings = {"staged", "fastcopy", "loopback"})
    void shouldReadRepairsIntoTheHostAndCopyThemOn(final String placement) {
        final Publisher publisher = open(0.03, "|placement=" + placement);
        nodes.await(() -> nodes.count(2, "framecast_linked_members") == 2, "links");
        deliver(publisher, 120);
        for (int s = 0; s < 2; s++) {
            final int node = s;
            assertTrue(nodes.subscriber(s).placement().orElseThrow().toString().startsWith(placement));
            nodes.await(() -> nodes.count(node, PULLED) > 0, "reads");
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.03})
    void shouldGoOnWithTheCopyEngineWhenTheNicsConnectionsBreak(final double loss) {
        final Publisher publisher = open(loss, "|placement=loopback");
        nodes.await(() -> publisher.readySubscribers() == 2, "subscribers");
        nodes.publish(publisher, 0, 60);
        nodes.await(() -> nodes.count(0, COPIED) > 0 && nodes.count(1, COPIED) > 0, "copies");
        standIn.set("break_connections", 0);
        nodes.publish(publisher, 60, 120);
        for (int s = 0; s < 2; s++) {
            final int node = s;
            nodes.await(() -> nodes.count(node, "framecast_nic_copy_fallbacks_total", "broken") > 0, "fallbacks");
        }
        assertTrue(
                nodes.notices().stream().anyMatch(line -> line.contains("the NIC copies no more")),
                () -> "" + nodes.notices());
        assertTrue(publisher.close(Duration.ofSeconds(60)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "|one-sided=off"})
    void shouldGoOnStagedAndSayWhyWhereTheDeviceTakesNoDmaBuf(final String keys) {
        standIn.set("takes_dma_buf", 0);
        final Publisher publisher = open(0, keys);
        deliver(publisher, 30);
        for (final Subscriber subscriber : nodes.subscribers()) {
            final String report = subscriber.placement().orElseThrow().toString();
            assertTrue(
                    report.startsWith(
                            "staged (no direct: ibv_reg_dmabuf_mr: errno 95, 2097152 bytes of a dma-buf on standin"),
                    report);
            assertTrue(report.contains("takes no dma-buf; use nvidia-peermem, or staged placement"), report);
            assertTrue(report.contains("; no loopback: used only where placement=loopback asks for it)"), report);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"direct", "loopback"})
    void shouldRefuseInOneLineWhereAWayIsNamedThatCannotBe(final String placement) {
        standIn.set("takes_dma_buf", 0);
        open(0, "|placement=" + placement);
        for (final Subscriber subscriber : nodes.subscribers()) {
            nodes.await(() -> subscriber.state() == Subscriber.State.FAILED, "the refusal");
            final String report = subscriber.failure().orElseThrow();
            assertTrue(
                    report.contains("placement: " + placement + " cannot be used here: ibv_reg_dmabuf_mr: errno 95"),
                    report);
        }
    }
}
