package io.framecast.engine.clients;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.Framecast;
import io.framecast.api.NodeConfig;
import io.framecast.api.Subscriber;
import io.framecast.api.error.TransportException;
import io.framecast.api.format.ElementType;
import io.framecast.api.format.FrameFormat;
import io.framecast.engine.codec.FormatCodec;
import io.framecast.engine.hostgroup.HostGroups;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.testing.StreamFixture;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Clients that publish, as processes of other languages do.
class ClientPublishersTest {
    private static final int FRAME_MAX = 100_000;
    private static final int FRAMES = 400;
    private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final byte[] NONE = {};

    private final Channel channel = StreamFixture.channel("udp", "|device=host|window=400k|frame-max=" + FRAME_MAX);
    private final Framecast node = Framecast.launch(NodeConfig.DEFAULT);
    private final Framecast other = Framecast.launch(
            NodeConfig.DEFAULT.withFaults(new NodeConfig.Faults(0.01)).withSeed(5));
    private final ConcurrentLinkedQueue<String> events = new ConcurrentLinkedQueue<>();
    private ClientPublishers publishers;
    private Subscriber subscriber;

    ClientPublishersTest() {
        assumeTrue(Linux.isPresent(), () -> Linux.unavailable().orElse(""));
        publishers = ClientPublishers.open(node, channel, events::add);
        subscriber = other.subscribe(channel);
    }

    @AfterEach
    void close() {
        publishers.close();
        node.close();
        other.close();
    }

    private static void await(final BooleanSupplier condition, final String what) {
        final long endNs = System.nanoTime() + WAIT_NS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() < endNs, () -> "waited in vain for " + what);
            Thread.onSpinWait();
        }
    }

    private static byte[] payload(final int id) {
        final SplittableRandom random = new SplittableRandom(id);
        final byte[] payload = new byte[id % 5 == 0 ? 1 + random.nextInt(FRAME_MAX) : 1 + random.nextInt(300)];
        random.nextBytes(payload);
        return payload;
    }

    private static byte[] metadata(final int id) {
        return id % 7 == 3 ? ("metadata of " + id).getBytes(java.nio.charset.StandardCharsets.UTF_8) : NONE;
    }

    private static FrameFormat format(final int id) {
        return FrameFormat.tensor(ElementType.FLOAT32, 1 + id / 50);
    }

    private static void publish(final TestClient client, final int from, final int to) {
        for (int id = from; id < to; id++) {
            if (id % 50 == 0) {
                client.write(ClientLayout.FORMAT, 0, 0, FormatCodec.encode(format(id)), NONE);
            }
            client.write(ClientLayout.FRAME, id % 10 == 0 ? 1 : 0, 1000L + id, payload(id), metadata(id));
        }
    }

    private int poll(final int next) {
        final DeviceFrame frame = subscriber.poll();
        if (frame == null) {
            return next;
        }
        assertEquals(next, frame.frameId());
        assertArrayEquals(payload(next), frame.region().host().toArray(ValueLayout.JAVA_BYTE));
        assertArrayEquals(metadata(next), frame.metadata());
        assertEquals(next % 10 == 0, frame.keyframe());
        assertEquals(1000L + next, frame.sourceTimestampNs());
        assertEquals(format(next), frame.format().orElseThrow());
        frame.close();
        return next + 1;
    }

    private void receive(final int from, final int to) {
        int next = from;
        final long endNs = System.nanoTime() + WAIT_NS;
        while (next < to) {
            next = poll(next);
            assertTrue(System.nanoTime() < endNs, "frame " + next + ", " + events);
        }
    }

    @Test
    void shouldPublishWhatAClientWrites() throws InterruptedException {
        try (TestClient client = new TestClient(channel, 0)) {
            assertEquals(ClientLayout.ACCEPTED, client.code);
            assertEquals(FRAME_MAX, client.frameMaxBytes);
            client.awaitReady();
            final Thread writer = Thread.ofPlatform().start(() -> {
                publish(client, 0, FRAMES);
                client.write(ClientLayout.END, 0, 0, NONE, NONE);
            });
            receive(0, FRAMES);
            await(() -> subscriber.poll() == null && subscriber.state() == Subscriber.State.END_OF_STREAM, "the end");
            writer.join();
            await(() -> client.state() == ClientLayout.ENDED, "the end at the client");
        }
        await(() -> publishers.frames() == FRAMES && events.size() == 2, "events");
        assertTrue(String.valueOf(events).contains("ended its stream after " + FRAMES + " frames"), events::toString);
    }

    @Test
    void shouldLoseTheSourceWhenAClientDiesAndServeTheNext() {
        try (TestClient client = new TestClient(channel, 0)) {
            client.awaitReady();
            publish(client, 0, 20);
            receive(0, 20);
            try (TestClient second = new TestClient(channel, 0)) {
                assertEquals(ClientLayout.BUSY, second.code);
            }
        }
        await(() -> subscriber.poll() == null && subscriber.state() == Subscriber.State.SOURCE_LOST, "the loss");
        subscriber.close();
        subscriber = other.subscribe(channel);
        await(() -> events.stream().anyMatch(line -> line.contains("is gone after 20 frames")), "the event");
        try (TestClient client = new TestClient(channel, 50_000)) {
            assertEquals(ClientLayout.ACCEPTED, client.code);
            assertEquals(50_000, client.frameMaxBytes);
            client.awaitReady();
            client.write(ClientLayout.FORMAT, 0, 0, FormatCodec.encode(format(0)), NONE);
            client.write(ClientLayout.FRAME, 1, 1000, payload(0).length > 50_000 ? new byte[1] : payload(0), NONE);
            await(() -> publishers.frames() == 21, "the next client's frame");
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 63, TestClient.RING_BYTES + 64, Long.MIN_VALUE, -64})
    void shouldRefuseABrokenRing(final long committed) {
        try (TestClient client = new TestClient(channel, 0)) {
            client.awaitReady();
            client.commit(committed);
            await(() -> client.state() == ClientLayout.FAILED, "the refusal");
        }
        await(() -> events.size() == 2, "events");
        assertTrue(String.valueOf(events).contains("its ring is broken"), events::toString);
    }

    @Test
    void shouldRefuseFramesThatAreTooLong() {
        try (TestClient client = new TestClient(channel, 0)) {
            client.awaitReady();
            client.write(ClientLayout.FRAME, 0, 0, new byte[FRAME_MAX + 1], NONE);
            await(() -> client.state() == ClientLayout.FAILED, "the refusal");
        }
    }

    /// A client that ends at once leaves its place to the next.
    @Test
    void shouldServeOneShortClientAfterAnother() {
        for (int i = 0; i < 50; i++) {
            final int number = i;
            try (TestClient client = new TestClient(channel, 0)) {
                assertEquals(ClientLayout.ACCEPTED, client.code, () -> "client " + number);
            }
            await(() -> events.size() == 2 * number + 2, "the end of client " + number);
        }
    }

    /// By a cleaner of temporary files, or by hand.
    @Test
    void shouldListenAgainWhereItsSocketWasRemoved() throws IOException {
        final Path socket = HostGroups.clientsPath(channel, "");
        Files.delete(socket);
        await(() -> !events.isEmpty(), "a line");
        assertTrue(events.element().contains(socket + " was removed, and is made again"), events::toString);
        try (TestClient client = new TestClient(channel, 0)) {
            assertEquals(ClientLayout.ACCEPTED, client.code);
        }
    }

    @Test
    void shouldBeAloneOnItsChannel() {
        final String said = String.valueOf(
                assertThrows(TransportException.class, () -> ClientPublishers.open(other, channel, events::add))
                        .getMessage());
        assertTrue(said.startsWith("another process of this host publishes for clients"), said);
    }
}
