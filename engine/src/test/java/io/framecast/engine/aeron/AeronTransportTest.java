package io.framecast.engine.aeron;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.Channel;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.TransportException;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.provider.TransportProvider;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.SendRing;
import io.framecast.api.spi.Transport;
import io.framecast.testing.TestPorts;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class AeronTransportTest {
    private static final int PAYLOAD_BYTES = 4_000;
    private static final int SLOTS = 64;
    private static final int PORT = TestPorts.triple();
    private static final int CONTROL_PORT = TestPorts.triple();
    private static final String MULTICAST =
            "framecast:aeron?group=239.66.77.89:" + PORT + "|interface=127.0.0.1|mtu=8192";

    enum Kind {
        MULTICAST,
        FANOUT,
        IPC
    }

    @TempDir
    Path directory;

    private final Arena arena = Arena.ofShared();
    private final List<Transport> transports = new ArrayList<>();
    private final List<String> warnings = new CopyOnWriteArrayList<>();

    @AfterEach
    void closeAll() {
        transports.forEach(Transport::close);
        arena.close();
    }

    private Transport open(final String uri) {
        final Transport transport =
                new AeronTransportProvider().open(new TransportConfig(Channel.parse(uri), warnings::add));
        transports.add(transport);
        return transport;
    }

    private Transport open(final Kind kind) {
        return open(
                switch (kind) {
                    case MULTICAST -> MULTICAST;
                    case FANOUT -> "framecast:aeron?control=127.0.0.1:" + CONTROL_PORT + "|mtu=8192";
                    case IPC -> "framecast:aeron?ipc=" + directory.resolve("driver") + "|mtu=8192";
                });
    }

    @Test
    void shouldSayThatTtlLimitsTheGroupAlone() {
        open(MULTICAST);
        assertTrue(warnings.stream().noneMatch(line -> line.contains("ttl=")));
        open(MULTICAST + "|ttl=4");
        assertEquals(
                1,
                warnings.stream()
                        .filter(line -> line.contains("ttl=4 holds for the group"))
                        .count());
    }

    @Test
    void shouldTellHostsByTheirAddresses() throws UnknownHostException {
        final Transport transport = open(MULTICAST);
        final InetAddress first = InetAddress.getByName("10.1.2.3");
        final LaneAddress control = new PeerAddress(first, 4000, 5, 6).encode();
        assertTrue(transport.isOneHost(control, new PeerAddress(first, 4002, 7, 8).encode()));
        final InetAddress other = InetAddress.getByName("10.1.2.4");
        assertFalse(transport.isOneHost(control, new PeerAddress(other, 4000, 5, 6).encode()));
    }

    @Test
    void shouldRefuseToMarkPackets() {
        final ConfigException refused = assertThrows(ConfigException.class, () -> open(MULTICAST + "|dscp=26"));
        assertEquals(
                "dscp: expected 0, for Aeron's media driver marks no packets; got 26;"
                        + " framecast:udp and framecast:verbs do",
                refused.getMessage());
    }

    @ParameterizedTest
    @EnumSource
    void shouldDeliverEachDatagramWholeAndInOrderWhenReceiverKeepsUp(final Kind kind) {
        final SendRing send = LanePair.sendRing(arena, PAYLOAD_BYTES, SLOTS);
        final ReceiveRing receive = LanePair.receiveRing(arena, PAYLOAD_BYTES, SLOTS);
        final Lane source = LanePair.source(open(kind), LaneKind.DATA, send);
        final Lane receiver = LanePair.receiver(open(kind), LaneKind.DATA, receive, source.address());
        LanePair.connect(source, send, receiver);
        final Random random = new Random(7);
        final Completions completions = new Completions(SLOTS);
        final int total = 20 * SLOTS;
        int sent = 0;
        int received = 0;
        final long startNs = System.nanoTime();
        while (received < total) {
            assertTrue(System.nanoTime() - startNs < LanePair.PATIENCE_NS, "received " + received + " of " + sent);
            // At most a ring's worth is on its way, so that nothing can be lost for lack of room.
            while (sent < total && sent - received < SLOTS / 2) {
                LanePair.fill(send, sent % SLOTS, sent, random.nextInt(PAYLOAD_BYTES + 1));
                if (source.multicast(sent % SLOTS, 1) == 0) {
                    break;
                }
                sent++;
            }
            completions.clear();
            receiver.post(received % SLOTS, SLOTS / 2);
            receiver.poll(completions);
            for (int i = 0; i < completions.count(); i++) {
                assertEquals(received % SLOTS, completions.slot(i), "the slot that was posted");
                assertEquals(received, LanePair.check(receive, completions.slot(i), completions.bytes(i)));
                received++;
            }
        }
        assertEquals(0, receiver.counter(LaneCounter.TRUNCATED) + receiver.counter(LaneCounter.MALFORMED));
        final long sentNs = System.nanoTime();
        while (source.completed() < source.submitted()) {
            assertTrue(System.nanoTime() - sentNs < LanePair.PATIENCE_NS, "sends never complete");
            Waiting.pause();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldReachOnePeerOnlyWhenSendingUnicast(final Kind kind) {
        final SendRing send = LanePair.sendRing(arena, 512, 8);
        final ReceiveRing one = LanePair.receiveRing(arena, 512, 8);
        final ReceiveRing other = LanePair.receiveRing(arena, 512, 8);
        final Lane source = LanePair.source(open(kind), LaneKind.REPAIR, send);
        final Transport receivers = open(kind);
        final Lane target = LanePair.receiver(receivers, LaneKind.REPAIR, one, null);
        final Lane bystander = LanePair.receiver(receivers, LaneKind.REPAIR, other, null);
        assertNotEquals(target.address(), bystander.address());
        final int peer = source.connect(target.address());
        LanePair.fill(send, 3, 99, 400);
        target.post(0, 8);
        bystander.post(0, 8);
        final Completions completions = new Completions(8);
        LanePair.until("the driver takes the datagram", () -> source.unicast(peer, 3, 1) == 1);
        LanePair.until("it arrives", () -> target.poll(completions) == 1);
        assertEquals(99, LanePair.check(one, completions.slot(0), completions.bytes(0)));
        assertEquals(0, bystander.poll(completions));
        source.disconnect(peer);
        assertThrows(IllegalArgumentException.class, () -> source.unicast(peer, 3, 1));
        assertEquals(peer, source.connect(bystander.address()), "handles are reused");
    }

    @ParameterizedTest
    @EnumSource
    void shouldHearOneSourceOnlyWhenTwoSendDataToTheSameGroup(final Kind kind) {
        final SendRing sendOne = LanePair.sendRing(arena, 256, 8);
        final SendRing sendTwo = LanePair.sendRing(arena, 256, 8);
        final ReceiveRing receiveOne = LanePair.receiveRing(arena, 256, 8);
        final ReceiveRing receiveTwo = LanePair.receiveRing(arena, 256, 8);
        final Transport first = open(kind);
        final Lane sourceOne = LanePair.source(first, LaneKind.DATA, sendOne);
        // In fan-out a control address belongs to one process: both sources share its driver.
        final Lane sourceTwo = LanePair.source(kind == Kind.FANOUT ? first : open(kind), LaneKind.DATA, sendTwo);
        final Transport receivers = open(kind);
        final Lane one = LanePair.receiver(receivers, LaneKind.DATA, receiveOne, sourceOne.address());
        final Lane two = LanePair.receiver(receivers, LaneKind.DATA, receiveTwo, sourceTwo.address());
        LanePair.connect(sourceOne, sendOne, one);
        LanePair.connect(sourceTwo, sendTwo, two);
        LanePair.fill(sendOne, 1, 1_001, 100);
        LanePair.fill(sendTwo, 1, 2_002, 100);
        LanePair.until("source one sends", () -> sourceOne.multicast(1, 1) == 1);
        LanePair.until("source two sends", () -> sourceTwo.multicast(1, 1) == 1);
        assertEquals(1_001, next(one, receiveOne));
        assertEquals(2_002, next(two, receiveTwo));
        final Completions completions = new Completions(8);
        one.post(0, 8);
        two.post(0, 8);
        assertEquals(0, one.poll(completions) + two.poll(completions), "nothing of the other source");
    }

    private static long next(final Lane lane, final ReceiveRing ring) {
        final Completions completions = new Completions(1);
        lane.post(5, 1);
        LanePair.until("a datagram arrives", () -> lane.poll(completions) == 1);
        return LanePair.check(ring, completions.slot(0), completions.bytes(0));
    }

    @ParameterizedTest
    @EnumSource
    void shouldKeepDatagramsUnreadWhenNoSlotIsPosted(final Kind kind) {
        final SendRing send = LanePair.sendRing(arena, 256, SLOTS);
        final ReceiveRing receive = LanePair.receiveRing(arena, 256, SLOTS);
        final Lane source = LanePair.source(open(kind), LaneKind.DATA, send);
        final Lane receiver = LanePair.receiver(open(kind), LaneKind.DATA, receive, source.address());
        LanePair.connect(source, send, receiver);
        for (int i = 0; i < 10; i++) {
            LanePair.fill(send, i, i, 200);
        }
        LanePair.until("all are taken", () -> source.multicast(0, 10) == 10);
        final Completions completions = new Completions(4);
        assertEquals(0, receiver.poll(completions), "nothing is posted");
        receiver.post(SLOTS - 2, 3);
        LanePair.until("posted slots are used, over the ring's end", () -> {
            receiver.poll(completions);
            return completions.count() == 3;
        });
        assertAll(
                () -> assertEquals(SLOTS - 2, completions.slot(0)),
                () -> assertEquals(SLOTS - 1, completions.slot(1)),
                () -> assertEquals(0, completions.slot(2)));
        receiver.post(10, SLOTS);
        LanePair.until("the fourth arrives", () -> {
            receiver.poll(completions);
            return completions.count() == 4;
        });
        assertEquals(0, receiver.poll(completions), "completions has room for no more");
        assertEquals(3, LanePair.check(receive, 10, completions.bytes(3)));
        final Completions rest = new Completions(SLOTS);
        receiver.post(20, SLOTS);
        LanePair.until("the rest arrives", () -> {
            receiver.poll(rest);
            return rest.count() == 6;
        });
        assertEquals(9, LanePair.check(receive, rest.slot(5), rest.bytes(5)));
    }

    @ParameterizedTest
    @EnumSource
    void shouldDropAndCountWhenDatagramsDoNotFitTheSlots(final Kind kind) {
        final SendRing send = LanePair.sendRing(arena, 2_000, 8);
        final ReceiveRing receive = LanePair.receiveRing(arena, 1_000, 8);
        final Lane source = LanePair.source(open(kind), LaneKind.REPAIR, send);
        final Transport transport = open(kind);
        final Lane receiver = LanePair.receiver(transport, LaneKind.REPAIR, receive, null);
        LanePair.connect(source, send, receiver);
        final SendRing tiny = new SendRing(arena.allocate(1), 0, arena.allocate(64), 8, new int[] {5});
        final Lane shortSource = LanePair.source(transports.getFirst(), LaneKind.REPAIR, tiny);
        LanePair.fill(send, 1, 1, 2_000);
        LanePair.fill(send, 2, 2, 1_000);
        final Completions completions = new Completions(8);
        receiver.post(0, 8);
        LanePair.until("too long is sent", () -> source.multicast(1, 1) == 1);
        LanePair.until("it is dropped", () -> {
            receiver.poll(completions);
            return receiver.counter(LaneCounter.TRUNCATED) == 1;
        });
        LanePair.until("too short is sent", () -> shortSource.multicast(0, 1) == 1);
        LanePair.until("it is dropped", () -> {
            receiver.poll(completions);
            return receiver.counter(LaneCounter.MALFORMED) == 1;
        });
        LanePair.until("a good one is sent", () -> source.multicast(2, 1) == 1);
        LanePair.until("it arrives", () -> receiver.poll(completions) == 1);
        assertEquals(1, completions.count());
        assertEquals(0, completions.slot(0), "dropped datagrams use no slot");
        assertEquals(2, LanePair.check(receive, 0, completions.bytes(0)));
    }

    @ParameterizedTest
    @EnumSource
    void shouldAcceptNothingWhenNobodyListens(final Kind kind) {
        final SendRing send = LanePair.sendRing(arena, 256, 8);
        final Lane source = LanePair.source(open(kind), LaneKind.CONTROL, send);
        LanePair.fill(send, 0, 1, 10);
        assertEquals(0, source.multicast(0, 1));
        assertEquals(0, source.submitted());
        assertEquals(0, source.counter(LaneCounter.SEND_BACK_PRESSURED));
    }

    @Test
    void shouldRefuseHostileLaneAddresses() {
        final Transport transport = open(MULTICAST);
        final Lane lane = LanePair.source(transport, LaneKind.REPAIR, LanePair.sendRing(arena, 256, 8));
        final Random random = new Random(11);
        for (int i = 0; i < 2_000; i++) {
            final byte[] bytes = new byte[random.nextInt(LaneAddress.BYTES_MAX + 1)];
            random.nextBytes(bytes);
            if ((bytes.length == 15 && bytes[0] == 4) || (bytes.length == 27 && bytes[0] == 6)) {
                continue;
            }
            assertThrows(TransportException.class, () -> lane.connect(new LaneAddress(bytes)));
        }
        final byte[][] impossible = {
            {4, (byte) 239, 1, 2, 3, 0, 80, 0, 0, 0, 1, 0, 0, 0, 1},
            {4, 0, 0, 0, 0, 0, 80, 0, 0, 0, 1, 0, 0, 0, 1},
            {4, -1, -1, -1, -1, 0, 80, 0, 0, 0, 1, 0, 0, 0, 1},
            {4, 127, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1},
            {4, 127, 0, 0, 1, 0, 80, 0, 0, 0, 0, 0, 0, 0, 1},
            {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1},
        };
        for (final byte[] bytes : impossible) {
            assertThrows(TransportException.class, () -> lane.connect(new LaneAddress(bytes)));
        }
    }

    @Test
    void shouldNameTheMendWhenTheChannelCannotWork() {
        assertMessage("interface", () -> open("framecast:aeron?group=239.66.77.89:" + PORT + "|interface=nonesuch0"));
        assertMessage("odd", () -> open("framecast:aeron?group=239.66.77.88:" + PORT + "|interface=127.0.0.1"));
        assertMessage("socket-buffer", () -> open(MULTICAST + "|socket-buffer=4096"));
        final Transport transport = open(MULTICAST);
        assertMessage("mtu=", () -> LanePair.source(transport, LaneKind.DATA, LanePair.sendRing(arena, 9_000, 4)));
        final ReceiveRing device =
                new ReceiveRing(arena.allocate(64), 8, 32, DeviceRegion.ofDevice(0x7000_0000L, 2_048), 1_024, 2);
        assertMessage(
                "staged",
                () -> transport.open(new LaneConfig(LaneKind.REPAIR, LaneConfig.Role.RECEIVER, null, device, null)));
    }

    @Test
    void shouldNameThePortWhenItIsInUse() {
        LanePair.source(open(Kind.FANOUT), LaneKind.CONTROL, LanePair.sendRing(arena, 256, 8));
        final Transport second = open(Kind.FANOUT);
        assertMessage(
                "free the port", () -> LanePair.source(second, LaneKind.CONTROL, LanePair.sendRing(arena, 256, 8)));
    }

    private static void assertMessage(final String part, final org.junit.jupiter.api.function.Executable action) {
        final String message = assertThrows(TransportException.class, action).getMessage();
        assertTrue(message.contains(part), message);
        assertFalse(message.contains("\n"), message);
    }

    @Test
    void shouldRefuseToReplaceADirectoryThatIsNotADrivers() throws java.io.IOException {
        final Path precious = java.nio.file.Files.writeString(directory.resolve("precious"), "keep");
        assertMessage("not a media driver's directory", () -> open("framecast:aeron?ipc=" + directory));
        assertTrue(java.nio.file.Files.exists(precious));
    }

    @Test
    void shouldSayOnceWhenSocketBuffersAreSmallerThanWanted() {
        open(MULTICAST + "|socket-buffer=1g");
        final List<String> about = warnings.stream()
                .filter(line -> line.contains("net.core.rmem_max"))
                .toList();
        assertEquals(1, about.size(), warnings::toString);
        assertTrue(about.getFirst().contains("wanted SO_RCVBUF of 1073741824 bytes"), about::toString);
    }

    @Test
    void shouldNeverOfferMoreReceiveCapacityThanTheSocketBufferHolds() {
        final Transport transport = open(MULTICAST + "|socket-buffer=128k");
        final SendRing send = LanePair.sendRing(arena, PAYLOAD_BYTES, 8);
        final Lane source = LanePair.source(transport, LaneKind.DATA, send);
        final Lane receiver = LanePair.receiver(
                transport, LaneKind.DATA, LanePair.receiveRing(arena, PAYLOAD_BYTES, 8), source.address());
        final int datagramBytes = PAYLOAD_BYTES + LanePair.HEADER_BYTES;
        assertTrue(receiver.receiveCapacity() > 0);
        assertTrue(receiver.receiveCapacity() * datagramBytes <= 131_072, () -> "" + receiver.receiveCapacity());
        assertEquals(
                Lane.UNLIMITED,
                LanePair.source(transport, LaneKind.CONTROL, send).receiveCapacity());
    }

    @Test
    void shouldLeaveNoDirectoryBehindWhenClosed() {
        final Set<Path> before = directories();
        final Transport transport = open(MULTICAST);
        final SendRing send = LanePair.sendRing(arena, 256, 8);
        LanePair.source(transport, LaneKind.DATA, send);
        final Set<Path> made = directories();
        made.removeAll(before);
        assertEquals(1, made.size(), made::toString);
        transport.close();
        transport.close();
        made.retainAll(directories());
        assertEquals(Set.of(), made);
    }

    /// The drivers' directories of this process.
    private static Set<Path> directories() {
        final String prefix = "framecast-aeron-" + ProcessHandle.current().pid() + "-";
        final Set<Path> found = new HashSet<>();
        for (final Path parent : List.of(Path.of("/dev/shm"), Path.of(System.getProperty("java.io.tmpdir")))) {
            final String[] names = parent.toFile().list((_, name) -> name.startsWith(prefix));
            for (final String name : names == null ? new String[0] : names) {
                found.add(parent.resolve(name));
            }
        }
        return found;
    }

    @Test
    void shouldBeFoundByServiceLoader() {
        final List<String> names = ServiceLoader.load(TransportProvider.class).stream()
                .map(provider -> provider.get().name())
                .toList();
        assertTrue(names.contains("aeron"), names::toString);
        assertTrue(new AeronTransportProvider().unavailable().isEmpty());
    }
}
