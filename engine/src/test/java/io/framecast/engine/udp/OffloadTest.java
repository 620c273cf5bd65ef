package io.framecast.engine.udp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneConfig.Role;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.SendRing;
import io.framecast.api.spi.Transport;
import io.framecast.engine.libc.Linux;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Datagrams that the kernel cuts out of one message and joins into another.
final class OffloadTest {
    private static final String URI = UdpTests.URI + "|mtu=1500";
    private static final int PAYLOAD_BYTES = 1408;
    private static final int SEND_SLOTS = 300;
    private static final int RING_SLOTS = 500;

    private final Arena arena = Arena.ofShared();
    private final Completions completions = new Completions(128);

    @AfterEach
    void closeArena() {
        arena.close();
    }

    @Test
    void shouldLandEachDatagramInTheNextPostedSlotWhateverTheLengths() {
        for (long seed = 1; seed <= 40; seed++) {
            final SplittableRandom random = new SplittableRandom(seed);
            try (Transport transport = UdpTests.open(URI)) {
                final SendRing send = UdpTests.sendRing(arena, SEND_SLOTS, PAYLOAD_BYTES);
                final ReceiveRing ring = UdpTests.receiveRing(arena, RING_SLOTS, PAYLOAD_BYTES);
                final Lane source = UdpTests.source(transport, send);
                final Lane receiver = UdpTests.receiver(transport, ring, source);
                long sent = 0;
                long received = 0;
                int next = random.nextInt(RING_SLOTS);
                final long startNs = System.nanoTime();
                while (sent < 3_000) {
                    final int count = 1 + random.nextInt(200);
                    fill(send, sent, count, random);
                    assertEquals(count, source.multicast((int) (sent % SEND_SLOTS), count));
                    sent += count;
                    while (received < sent) {
                        final String where = "seed " + seed + " received " + received + " of " + sent;
                        assertTrue(System.nanoTime() - startNs < 60_000_000_000L, () -> where + counters(receiver));
                        // Runs of all lengths, also shorter than a joined message.
                        receiver.post(next, 1 + random.nextInt(random.nextBoolean() ? 20 : 200));
                        completions.clear();
                        final int taken = receiver.poll(completions);
                        for (int i = 0; i < taken; i++) {
                            assertEquals((next + i) % RING_SLOTS, completions.slot(i), "seed " + seed);
                            check(ring, completions.slot(i), completions.bytes(i), received++);
                        }
                        next = (next + taken) % RING_SLOTS;
                    }
                }
                assertEquals(0, receiver.poll(completions));
                assertEquals(sent, receiver.counter(LaneCounter.RECEIVED_DATAGRAMS));
                assertEquals(source.counter(LaneCounter.SENT_BYTES), receiver.counter(LaneCounter.RECEIVED_BYTES));
            }
        }
    }

    private static String counters(final Lane lane) {
        final StringBuilder text = new StringBuilder();
        for (final LaneCounter counter : LaneCounter.values()) {
            text.append(' ').append(counter).append('=').append(lane.counter(counter));
        }
        return text.toString();
    }

    // Mostly full slots, as of long frames, then runs of small ones of one length, then any.
    private static void fill(final SendRing ring, final long first, final int count, final SplittableRandom random) {
        final int kind = random.nextInt(3);
        final int each = random.nextInt(PAYLOAD_BYTES + 1);
        for (int i = 0; i < count; i++) {
            final long sequence = first + i;
            final int slot = (int) (sequence % SEND_SLOTS);
            ring.payloadLengths()[slot] = switch (kind) {
                case 0 -> random.nextInt(40) == 0 ? random.nextInt(PAYLOAD_BYTES) : PAYLOAD_BYTES;
                case 1 -> each;
                default -> random.nextInt(PAYLOAD_BYTES + 1);
            };
            final long header = (long) slot * UdpTests.HEADER_BYTES;
            ring.headers().set(JAVA_INT, header, (int) sequence);
            ring.headers().set(JAVA_INT, header + 4, ring.payloadLengths()[slot]);
            ring.payload()
                    .asSlice((long) slot * PAYLOAD_BYTES, ring.payloadLengths()[slot])
                    .fill((byte) (sequence * 7));
        }
    }

    private static void check(final ReceiveRing ring, final int slot, final int bytes, final long sequence) {
        final long header = (long) slot * ring.headerStride();
        assertEquals((int) sequence, ring.headers().get(JAVA_INT, header));
        final int payloadBytes = ring.headers().get(JAVA_INT, header + 4);
        assertEquals(payloadBytes + UdpTests.HEADER_BYTES, bytes);
        final MemorySegment payload = ring.payload().host().asSlice((long) slot * PAYLOAD_BYTES, payloadBytes);
        for (int i = 0; i < payloadBytes; i++) {
            assertEquals((byte) (sequence * 7), payload.get(JAVA_BYTE, i));
        }
    }

    private int awaitSome(final Lane receiver) {
        final int[] count = new int[1];
        UdpTests.awaitUntil("datagrams", () -> {
            count[0] = receiver.poll(completions);
            return count[0] > 0;
        });
        return count[0];
    }

    @Test
    void shouldSendAndTakeManyDatagramsPerMessage() {
        try (Transport transport = UdpTests.open(URI)) {
            final Lane source = UdpTests.source(transport, UdpTests.sendRing(arena, 90, PAYLOAD_BYTES));
            final Lane receiver =
                    UdpTests.receiver(transport, UdpTests.receiveRing(arena, RING_SLOTS, PAYLOAD_BYTES), source);
            assertEquals(90, source.multicast(0, 90));
            receiver.post(0, 90);
            // 64 KiB hold 45 datagrams of 1448 bytes.
            assertEquals(45, awaitSome(receiver), "offload is missing on the loopback of this kernel");
            assertEquals(45, awaitSome(receiver));
        }
    }

    @Test
    void shouldDropWhatDoesNotFitWhenStrangersSendJoinedDatagrams() {
        for (final int each : List.of(1, 39, 40, 41, 700, 1447, 1448, 1449, 1472)) {
            try (Transport transport = UdpTests.open(URI);
                    LinuxSocket stranger = LinuxSocket.open(arena, IpFamily.IPV4)) {
                final Lane repair = transport.open(new LaneConfig(
                        LaneKind.REPAIR,
                        Role.RECEIVER,
                        null,
                        UdpTests.receiveRing(arena, RING_SLOTS, PAYLOAD_BYTES),
                        null));
                final int count = Math.min(Offload.SEGMENTS_MAX / 2, Offload.MESSAGE_BYTES_MAX / each);
                stranger.bind(new Endpoint(InetAddress.ofLiteral("127.0.0.1"), 0), 0);
                stranger.connect(Endpoint.decode(repair.address(), IpFamily.IPV4), 0);
                final int bytes = count * each - each / 2;
                final MessageBatch message = MessageBatch.of(arena, arena.allocate(bytes));
                message.pointTo(0, 0, 1);
                message.segment(0, each);
                assertEquals(1, stranger.send(message.address(), 1));
                final boolean fits = each >= UdpTests.HEADER_BYTES && each <= PAYLOAD_BYTES + UdpTests.HEADER_BYTES;
                final int last = each - each / 2;
                final int good = fits ? count - (last < UdpTests.HEADER_BYTES ? 1 : 0) : 0;
                final int[] got = new int[1];
                UdpTests.awaitUntil(count + " datagrams of " + each, () -> {
                    repair.post(0, RING_SLOTS);
                    completions.clear();
                    got[0] += repair.poll(completions);
                    return got[0] + repair.counter(LaneCounter.MALFORMED) + repair.counter(LaneCounter.TRUNCATED)
                            == count;
                });
                // The last is shorter, so it may fit where the others do not.
                assertTrue(got[0] == good || (each > 1448 && got[0] == 1), got[0] + " of " + each);
            }
        }
    }

    @Test
    void shouldTryFewerDatagramsThenOneWhenTheSystemRefuses() {
        final List<String> notices = new ArrayList<>();
        final Offload offload = Offload.on("eth9", notices::add);
        assertEquals(128, offload.segmentsMax());
        assertFalse(offload.onRefused(Linux.EPERM, 100));
        assertEquals(128, offload.segmentsMax());
        assertTrue(offload.onRefused(Linux.EINVAL, 100));
        assertEquals(64, offload.segmentsMax());
        assertTrue(notices.isEmpty());
        assertTrue(offload.onRefused(Linux.EIO, 45));
        assertTrue(offload.onRefused(Linux.EIO, 45));
        assertEquals(1, offload.segmentsMax());
        assertEquals(1, notices.size());
        assertTrue(notices.getFirst().contains("eth9"), notices::toString);
    }

    @Test
    void shouldCarryLongDatagramsTwoToAMessage() {
        try (Transport transport = UdpTests.open(UdpTests.URI)) {
            final SendRing ring = UdpTests.sendRing(arena, 8, 30_000);
            final Lane source = UdpTests.source(transport, ring);
            final Lane receiver = UdpTests.receiver(transport, UdpTests.receiveRing(arena, RING_SLOTS, 30_000), source);
            assertEquals(8, source.multicast(0, 8));
            final int[] got = new int[1];
            UdpTests.awaitUntil("8 datagrams", () -> {
                receiver.post(0, RING_SLOTS);
                completions.clear();
                got[0] += receiver.poll(completions);
                return got[0] == 8;
            });
        }
    }
}
