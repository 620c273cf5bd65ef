package io.framecast.engine.udp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.ConfigException;
import io.framecast.api.error.FramecastException;
import io.framecast.api.error.NativeException;
import io.framecast.api.error.TransportException;
import io.framecast.api.provider.TransportProvider;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneConfig.Role;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.SendRing;
import io.framecast.api.spi.Transport;
import io.framecast.engine.libc.Linux;
import io.framecast.testing.TestPorts;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.ServiceLoader;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class UdpTransportTest {
    private static final int SLOTS = 64;
    private static final int PAYLOAD_BYTES = 1000;

    private final Arena arena = Arena.ofShared();
    private final List<String> warnings = new ArrayList<>();

    @AfterEach
    void closeArena() {
        arena.close();
    }

    private SendRing sendRing() {
        return UdpTests.sendRing(arena, SLOTS, PAYLOAD_BYTES);
    }

    private ReceiveRing receiveRing() {
        return UdpTests.receiveRing(arena, SLOTS, PAYLOAD_BYTES);
    }

    private static String refusal(final Class<? extends FramecastException> kind, final String uri) {
        final FramecastException refused =
                assertThrows(kind, () -> UdpTests.open(uri).close());
        assertFalse(refused.getMessage().contains("\n"));
        return refused.getMessage();
    }

    @Test
    void shouldBeFoundByServiceLoader() {
        assertTrue(ServiceLoader.load(TransportProvider.class).stream()
                .anyMatch(provider -> provider.type() == UdpTransportProvider.class));
        assertEquals("udp", new UdpTransportProvider().name());
    }

    @Test
    void shouldNameAeronWhenTheChannelIsNoGroup() {
        assertTrue(refusal(ConfigException.class, "framecast:udp?control=127.0.0.1:4000")
                .contains("aeron"));
        assertTrue(refusal(ConfigException.class, "framecast:udp?ipc=/tmp/framecast-none")
                .contains("aeron"));
    }

    @Test
    void shouldNameInterfacesWhenThereIsNoSuch() {
        final String message = refusal(ConfigException.class, UdpTests.GROUP + "|interface=nosuch0");
        assertTrue(message.contains("nosuch0") && message.contains("lo"), message);
    }

    @Test
    void shouldBindItsOwnSocketsToThePortsGiven() throws IOException {
        final int first = TestPorts.triple();
        final int last = first + 2;
        final String uri = UdpTests.URI + "|unicast-ports=" + first + "-" + last;
        try (DatagramSocket taken =
                        new DatagramSocket(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), first));
                Transport transport = UdpTests.open(uri)) {
            assertEquals(first, taken.getLocalPort());
            for (int port = first + 1; port <= last; port++) {
                final LaneAddress address =
                        UdpTests.source(transport, sendRing()).address();
                assertEquals("127.0.0.1:" + port, transport.describe(address));
            }
            final ConfigException none =
                    assertThrows(ConfigException.class, () -> UdpTests.source(transport, sendRing()));
            assertEquals(
                    "unicast-ports: none of " + first + "-" + last
                            + " is free on 127.0.0.1; widen the range, or stop the programs that use them",
                    none.getMessage());
        }
    }

    @Test
    void shouldTellHostsByTheirAddresses() {
        try (Transport transport = UdpTests.open(UdpTests.URI)) {
            final LaneAddress control = address("10.1.2.3", 4000);
            assertTrue(transport.isOneHost(control, address("10.1.2.3", 4002)));
            assertFalse(transport.isOneHost(control, address("10.1.2.4", 4000)));
            assertThrows(TransportException.class, () -> transport.isOneHost(control, new LaneAddress(new byte[] {4})));
        }
    }

    private static LaneAddress address(final String host, final int port) {
        return new Endpoint(InetAddress.ofLiteral(host), port).toLaneAddress();
    }

    @Test
    void shouldTakeAnInterfaceByItsAddress() {
        try (Transport transport = UdpTests.open(UdpTests.GROUP + "|interface=127.0.0.1")) {
            assertEquals(UdpLink.PAYLOAD_BYTES_MAX, transport.capabilities().datagramBytesMax());
            assertEquals(
                    "127.0.0.1",
                    Endpoint.decode(UdpTests.source(transport, sendRing()).address(), IpFamily.IPV4)
                            .address()
                            .getHostAddress());
        }
    }

    @Test
    void shouldChooseAnInterfaceAndSaySoWhenNoneIsNamed() {
        try (Transport transport = UdpTests.open(UdpTests.GROUP, warnings::add)) {
            assertEquals(1, warnings.size());
            assertTrue(warnings.getFirst().startsWith("udp: interface "), warnings::toString);
            assertTrue(transport.capabilities().datagramBytesMax() > 500);
        }
    }

    @Test
    void shouldLimitDatagramsToTheMtu() {
        try (Transport transport = UdpTests.open(UdpTests.URI + "|mtu=1500")) {
            assertEquals(1472, transport.capabilities().datagramBytesMax());
        }
    }

    @Test
    void shouldWarnOnceWhenBuffersAreSmallerThanWanted() {
        // More than any system gives: the kernel limits it to the range of an int.
        try (Transport transport = UdpTests.open(UdpTests.URI + "|socket-buffer=2147483647", warnings::add)) {
            final Lane source = UdpTests.source(transport, sendRing());
            UdpTests.receiver(transport, receiveRing(), source);
            UdpTests.receiver(transport, receiveRing(), source);
            assertEquals(
                    1,
                    warnings.stream()
                            .filter(w -> w.contains("net.core.rmem_max"))
                            .count(),
                    warnings::toString);
            assertEquals(
                    1,
                    warnings.stream()
                            .filter(w -> w.contains("net.core.wmem_max"))
                            .count(),
                    warnings::toString);
        }
    }

    @Test
    void shouldHoldAsManyDatagramsAsItsReceiveCapacitySays() {
        for (final String mtu : List.of("1500", "9000", "65535")) {
            try (Transport transport = UdpTests.open(UdpTests.URI + "|socket-buffer=1m|mtu=" + mtu)) {
                final int payloadBytes = transport.capabilities().datagramBytesMax() - UdpTests.HEADER_BYTES;
                final Lane source = UdpTests.source(transport, UdpTests.sendRing(arena, SLOTS, payloadBytes));
                final Lane receiver =
                        UdpTests.receiver(transport, UdpTests.receiveRing(arena, SLOTS, payloadBytes), source);
                final int capacity = receiver.receiveCapacity();
                assertTrue(capacity > 2 && capacity < 100_000, "capacity " + capacity);
                for (int i = 0; i < capacity; i++) {
                    assertEquals(1, source.multicast(i % SLOTS, 1));
                }
                assertEquals(0, receiver.counter(LaneCounter.RECEIVE_OVERRUNS));
                assertEquals(capacity, drain(receiver, capacity));
            }
        }
    }

    @Test
    void shouldCountWhatTheKernelDropsWhenNobodyPolls() {
        try (Transport transport = UdpTests.open(UdpTests.URI + "|socket-buffer=64k")) {
            final Lane source = UdpTests.source(transport, sendRing());
            final Lane receiver = UdpTests.receiver(transport, receiveRing(), source);
            // One by one, because the kernel counts a joined message as one.
            final int sent = 40 * SLOTS;
            for (int i = 0; i < sent; i++) {
                assertEquals(1, source.multicast(i % SLOTS, 1));
            }
            final long overruns = settledOverruns(receiver);
            assertTrue(overruns > 0, "overruns " + overruns);
            assertEquals(sent - overruns, drain(receiver, (int) (sent - overruns)));
            receiver.close();
            assertEquals(overruns, receiver.counter(LaneCounter.RECEIVE_OVERRUNS));
        }
    }

    // The kernel may deliver to sockets a little after the call that sent.
    private static long settledOverruns(final Lane receiver) {
        final long[] last = {-1};
        final long[] sinceNs = {0};
        UdpTests.awaitUntil("overruns to settle", () -> {
            final long now = receiver.counter(LaneCounter.RECEIVE_OVERRUNS);
            if (now != last[0]) {
                last[0] = now;
                sinceNs[0] = System.nanoTime();
            }
            return now > 0 && System.nanoTime() - sinceNs[0] > 100_000_000L;
        });
        return last[0];
    }

    private static int drain(final Lane receiver, final int expected) {
        final Completions completions = new Completions(SLOTS);
        final int[] count = new int[1];
        UdpTests.awaitUntil(expected + " datagrams", () -> {
            receiver.post(0, SLOTS);
            completions.clear();
            count[0] += receiver.poll(completions);
            return count[0] >= expected;
        });
        return count[0];
    }

    @Test
    void shouldSurviveWhatTheSystemRefusesToSend() {
        try (Transport transport = UdpTests.open(UdpTests.URI)) {
            // Datagrams longer than IP can carry are lost, as on a network, and counted.
            final SendRing ring = UdpTests.sendRing(arena, 4, UdpLink.PAYLOAD_BYTES_MAX);
            final Lane source = UdpTests.source(transport, ring);
            final Lane receiver = UdpTests.receiver(transport, UdpTests.receiveRing(arena, SLOTS, 60_000), source);
            ring.payloadLengths()[0] = 100;
            ring.payloadLengths()[2] = 200;
            assertEquals(4, source.multicast(0, 4));
            assertEquals(2, source.counter(LaneCounter.SYSTEM_ERRORS));
            assertEquals(2, source.counter(LaneCounter.SENT_DATAGRAMS));
            assertEquals(4, source.submitted());
            assertEquals(2, drain(receiver, 2));
        }
    }

    @Test
    void shouldSurvivePeersThatAreGone() {
        try (Transport transport = UdpTests.open(UdpTests.URI)) {
            final Lane source = control(transport, Role.SOURCE);
            final Lane gone = control(transport, Role.RECEIVER);
            final Lane there = control(transport, Role.RECEIVER);
            final int gonePeer = source.connect(gone.address());
            final int therePeer = source.connect(there.address());
            gone.close();
            for (int i = 0; i < 100; i++) {
                assertEquals(1, source.unicast(gonePeer, 0, 1));
                assertEquals(1, source.unicast(therePeer, 1, 1));
                assertEquals(1, drain(there, 1));
            }
        }
    }

    private Lane control(final Transport transport, final Role role) {
        return transport.open(new LaneConfig(LaneKind.CONTROL, role, sendRing(), receiveRing(), null));
    }

    @Test
    void shouldMoveUpWhatFollowsADroppedDatagram() throws IOException {
        try (Transport transport = UdpTests.open(UdpTests.URI);
                DatagramSocket stranger =
                        new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            final Lane source = control(transport, Role.SOURCE);
            final ReceiveRing ring = receiveRing();
            final Lane receiver =
                    transport.open(new LaneConfig(LaneKind.CONTROL, Role.RECEIVER, sendRing(), ring, null));
            final Endpoint to = Endpoint.decode(receiver.address(), IpFamily.IPV4);
            final Random random = new Random(5);
            final List<byte[]> good = new ArrayList<>();
            int truncated = 0;
            int malformed = 0;
            for (int i = 0; i < SLOTS; i++) {
                final int sort = random.nextInt(4);
                final int bytes = sort == 0 ? 2000 : sort == 1 ? random.nextInt(40) : 40 + random.nextInt(1001);
                final byte[] datagram = new byte[bytes];
                random.nextBytes(datagram);
                stranger.send(new DatagramPacket(datagram, bytes, to.address(), to.port()));
                truncated += sort == 0 ? 1 : 0;
                malformed += sort == 1 ? 1 : 0;
                if (sort > 1) {
                    good.add(datagram);
                }
            }

            final int first = SLOTS - 5;
            receiver.post(first, SLOTS);
            final Completions completions = new Completions(SLOTS);
            UdpTests.awaitUntil("good datagrams", () -> {
                receiver.poll(completions);
                return completions.count() == good.size();
            });
            for (int i = 0; i < good.size(); i++) {
                assertEquals((first + i) % SLOTS, completions.slot(i));
                assertBytes(good.get(i), ring, completions.slot(i), completions.bytes(i));
            }
            assertEquals(truncated, receiver.counter(LaneCounter.TRUNCATED));
            assertEquals(malformed, receiver.counter(LaneCounter.MALFORMED));
            assertTrue(truncated > 0 && malformed > 0);
            source.close();
        }
    }

    private static void assertBytes(final byte[] expected, final ReceiveRing ring, final int slot, final int bytes) {
        final byte[] got = new byte[bytes];
        MemorySegment.copy(ring.headers(), JAVA_BYTE, (long) slot * ring.headerStride(), got, 0, ring.headerBytes());
        MemorySegment.copy(
                ring.payload().host(),
                JAVA_BYTE,
                (long) slot * ring.payloadBytes(),
                got,
                ring.headerBytes(),
                bytes - ring.headerBytes());
        org.junit.jupiter.api.Assertions.assertArrayEquals(expected, got);
    }

    @Test
    void shouldNotHearStrangersOnItsDataLane() throws IOException {
        try (Transport transport = UdpTests.open(UdpTests.URI);
                DatagramSocket stranger =
                        new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            final Lane source = UdpTests.source(transport, sendRing());
            final Lane receiver = UdpTests.receiver(transport, receiveRing(), source);
            stranger.setOption(
                    java.net.StandardSocketOptions.IP_MULTICAST_IF, java.net.NetworkInterface.getByName("lo"));
            for (int i = 0; i < 10; i++) {
                stranger.send(
                        new DatagramPacket(new byte[500], 500, InetAddress.ofLiteral("224.20.30.41"), UdpTests.PORT));
            }
            assertEquals(1, source.multicast(0, 1));
            assertEquals(1, drain(receiver, 1));
            assertEquals(1, receiver.counter(LaneCounter.RECEIVED_DATAGRAMS));
            assertEquals(0, receiver.poll(new Completions(SLOTS)));
        }
    }

    @Test
    void shouldNameThePortWhenItIsInUse() throws IOException {
        // The first channel of a JVM keeps a socket of its own open.
        DatagramChannel.open().close();
        final Set<String> before = UdpTests.sockets();
        try (Transport transport = UdpTests.open(UdpTests.URI)) {
            final Lane source = UdpTests.source(transport, sendRing());
            try (DatagramChannel selfish = DatagramChannel.open(StandardProtocolFamily.INET)) {
                selfish.bind(new InetSocketAddress(UdpTests.PORT));
                final NativeException refused =
                        assertThrows(NativeException.class, () -> UdpTests.receiver(transport, receiveRing(), source));
                assertEquals(Linux.EADDRINUSE, refused.errno());
                assertTrue(refused.getMessage().contains("224.20.30.41:" + UdpTests.PORT), refused.getMessage());
                assertFalse(refused.getMessage().contains("\n"));
            }
            UdpTests.receiver(transport, receiveRing(), source);
        }
        assertEquals(0, UdpTests.socketsSince(before));
    }

    @Test
    void shouldCloseEverySocket() throws IOException {
        final Set<String> before = UdpTests.sockets();
        for (int i = 0; i < 10; i++) {
            final Transport transport = UdpTests.open(UdpTests.URI);
            final Lane source = UdpTests.source(transport, sendRing());
            final Lane receiver = UdpTests.receiver(transport, receiveRing(), source);
            control(transport, Role.SOURCE);
            control(transport, Role.RECEIVER);
            assertEquals(5, UdpTests.socketsSince(before));
            receiver.close();
            assertEquals(4, UdpTests.socketsSince(before));
            transport.close();
            assertEquals(0, UdpTests.socketsSince(before));
        }
    }

    @Test
    void shouldRefuseRingsItCannotUse() throws IOException {
        final Set<String> before = UdpTests.sockets();
        try (Transport transport = UdpTests.open(UdpTests.URI)) {
            final Lane source = UdpTests.source(transport, sendRing());
            final ReceiveRing inDevice = new ReceiveRing(
                    arena.allocate(40), 40, 40, DeviceRegion.ofDevice(1L << 40, PAYLOAD_BYTES), PAYLOAD_BYTES, 1);
            final TransportException refused =
                    assertThrows(TransportException.class, () -> UdpTests.receiver(transport, inDevice, source));
            assertTrue(refused.getMessage().contains("device memory"), refused.getMessage());
            final SendRing onHeap = new SendRing(
                    MemorySegment.ofArray(new byte[40]), 40, MemorySegment.ofArray(new byte[8]), 8, new int[1]);
            assertThrows(IllegalArgumentException.class, () -> UdpTests.source(transport, onHeap));
            final LaneConfig sending =
                    new LaneConfig(LaneKind.DATA, Role.RECEIVER, sendRing(), receiveRing(), source.address());
            assertThrows(IllegalArgumentException.class, () -> transport.open(sending));
            final LaneConfig hostile = new LaneConfig(
                    LaneKind.DATA, Role.RECEIVER, null, receiveRing(), new LaneAddress(new byte[] {4, 1, 2}));
            assertThrows(TransportException.class, () -> transport.open(hostile));
            assertEquals(1, UdpTests.socketsSince(before));
        }
    }

    @Test
    void shouldRefuseLengthsThatLeaveTheSlot() {
        try (Transport transport = UdpTests.open(UdpTests.URI)) {
            final SendRing ring = sendRing();
            final Lane source = UdpTests.source(transport, ring);
            ring.payloadLengths()[3] = PAYLOAD_BYTES + 1;
            assertThrows(IllegalArgumentException.class, () -> source.multicast(0, 8));
            assertThrows(IllegalArgumentException.class, () -> source.multicast(SLOTS, 1));
            assertThrows(IllegalArgumentException.class, () -> source.multicast(-1, 1));
        }
    }

    @Test
    void shouldMeasureWhatADatagramIsChargedWith() {
        UdpTests.assumeUdp();
        final long small = Truesize.measure(1448);
        final long large = Truesize.measure(60_000);
        assertTrue(small > 1448 && small < 10_000, "charged " + small);
        assertTrue(large > 60_000 && large < 200_000, "charged " + large);
        assertTrue(Truesize.of(1448, false) >= Truesize.of(1448, true));
    }
}
