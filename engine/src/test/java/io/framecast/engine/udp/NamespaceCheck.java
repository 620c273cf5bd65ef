package io.framecast.engine.udp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.framecast.api.error.ConfigException;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneConfig.Role;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.SendRing;
import io.framecast.api.spi.Transport;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

/// Runs in a process of its own, in a network namespace with one veth pair of MTU 1500, and checks cases that
/// loopback cannot show. Ends with status 0 when all checks pass.
final class NamespaceCheck {
    private static final int SLOTS = 32;

    private NamespaceCheck() {}

    public static void main(final String[] arguments) throws IOException, InterruptedException {
        final String interfaceName = arguments[0];
        for (final String group : List.of("224.20.30.42:24571", "[ff12::a]:24571", "[ff15::a]:24571")) {
            exchange("framecast:udp?group=" + group + "|interface=" + interfaceName);
        }
        // Routed there by the namespace.
        exchange("framecast:udp?group=224.20.30.42:24571");
        requireRefused("framecast:udp?group=224.20.30.42:24571|mtu=1501|interface=" + interfaceName);
        giveUp(interfaceName);
        ip("mtu 1500", interfaceName);
        // This check comes last: an interface that went down is up again some time after the command.
        survive(interfaceName);
    }

    /// Faults of the interface during a stream: the lane counts them, reports one line each, and goes on after
    /// them.
    private static void survive(final String interfaceName) throws IOException, InterruptedException {
        final List<String> notices = new ArrayList<>();
        try (Arena arena = Arena.ofShared();
                Transport transport = UdpTests.open(uri(interfaceName) + "|alive-timeout=60000", notices::add)) {
            final int payloadBytes = transport.capabilities().datagramBytesMax() - UdpTests.HEADER_BYTES;
            final Lane source = UdpTests.source(transport, UdpTests.sendRing(arena, SLOTS, payloadBytes));
            refuse(source, "mtu 1400", interfaceName);
            ip("mtu 1500", interfaceName);
            pass(source);
            refuse(source, "down", interfaceName);
            ip("up", interfaceName);
            pass(source);
        }
        require(notices.size() == 2, "notices: " + notices);
        require(notices.getFirst().contains("1472 bytes") && notices.getFirst().contains("1400"), notices.getFirst());
        require(notices.get(1).contains("ip link set " + interfaceName + " up"), notices.get(1));
    }

    private static void refuse(final Lane source, final String change, final String interfaceName)
            throws IOException, InterruptedException {
        pass(source);
        ip(change, interfaceName);
        final long before = source.counter(LaneCounter.SYSTEM_ERRORS);
        require(source.multicast(0, SLOTS) == SLOTS, "lost datagrams count as sent");
        require(source.counter(LaneCounter.SYSTEM_ERRORS) > before, change + ": no error was counted");
    }

    private static void pass(final Lane source) {
        final long errors = source.counter(LaneCounter.SYSTEM_ERRORS);
        for (int i = 0; i < 3; i++) {
            require(source.multicast(0, SLOTS) == SLOTS, "sent");
        }
        require(source.counter(LaneCounter.SYSTEM_ERRORS) == errors, "errors while nothing is wrong");
    }

    private static void giveUp(final String interfaceName) throws IOException, InterruptedException {
        try (Arena arena = Arena.ofShared();
                Transport transport = UdpTests.open(uri(interfaceName) + "|alive-timeout=50")) {
            final int payloadBytes = transport.capabilities().datagramBytesMax() - UdpTests.HEADER_BYTES;
            final Lane source = UdpTests.source(transport, UdpTests.sendRing(arena, SLOTS, payloadBytes));
            pass(source);
            ip("mtu 1400", interfaceName);
            UdpTests.awaitUntil("the lane to give up", () -> isGivenUp(source));
        }
    }

    private static boolean isGivenUp(final Lane source) {
        try {
            source.multicast(0, SLOTS);
            return false;
        } catch (final TransportException e) {
            require(e.getMessage().contains("1472 bytes") && e.getMessage().contains("mtu="), e.getMessage());
            return true;
        }
    }

    private static String uri(final String interfaceName) {
        return "framecast:udp?group=224.20.30.42:24571|interface=" + interfaceName;
    }

    private static void ip(final String change, final String interfaceName) throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>(List.of("ip", "link", "set", interfaceName));
        command.addAll(List.of(change.split(" ")));
        require(new ProcessBuilder(command).inheritIO().start().waitFor() == 0, command.toString());
    }

    private static void requireRefused(final String uri) {
        try (Transport transport = UdpTests.open(uri)) {
            throw new IllegalStateException("opened with " + transport.capabilities());
        } catch (final ConfigException e) {
            require(e.getMessage().contains("1500"), e.getMessage());
        }
    }

    private static void exchange(final String uri) {
        try (Arena arena = Arena.ofShared();
                Transport transport = UdpTests.open(uri)) {
            final int bytesMax = transport.capabilities().datagramBytesMax();
            require(bytesMax == (uri.contains("[") ? 1452 : 1472), uri + ": datagrams of " + bytesMax);
            final int payloadBytes = bytesMax - UdpTests.HEADER_BYTES;
            final SendRing ring = UdpTests.sendRing(arena, SLOTS, payloadBytes);
            for (int i = 0; i < SLOTS; i++) {
                ring.payload().asSlice((long) i * payloadBytes, payloadBytes).fill((byte) (i + 1));
            }
            final Lane source = UdpTests.source(transport, ring);
            final ReceiveRing received = UdpTests.receiveRing(arena, SLOTS, payloadBytes);
            final Lane receiver = UdpTests.receiver(transport, received, source);
            send(source, -1, receiver, received);

            final Lane near = repair(transport, Role.SOURCE, ring, UdpTests.receiveRing(arena, SLOTS, payloadBytes));
            final ReceiveRing far = UdpTests.receiveRing(arena, SLOTS, payloadBytes);
            send(near, -2, repair(transport, Role.RECEIVER, ring, far), far);
        }
    }

    private static Lane repair(
            final Transport transport, final Role role, final SendRing send, final ReceiveRing receive) {
        return transport.open(new LaneConfig(LaneKind.REPAIR, role, send, receive, null));
    }

    /// Sends the whole ring, by multicast (-1) or unicast, and compares the received slots.
    private static void send(final Lane from, final int how, final Lane to, final ReceiveRing received) {
        to.post(0, SLOTS);
        final int sent = how == -1 ? from.multicast(0, SLOTS) : from.unicast(from.connect(to.address()), 0, SLOTS);
        require(sent == SLOTS, "sent " + sent);
        final Completions completions = new Completions(SLOTS);
        UdpTests.awaitUntil(SLOTS + " datagrams", () -> {
            to.poll(completions);
            return completions.count() == SLOTS;
        });
        for (int i = 0; i < SLOTS; i++) {
            require(completions.bytes(i) == received.headerBytes() + received.payloadBytes(), "bytes");
            final long last = (completions.slot(i) + 1L) * received.payloadBytes() - 1;
            require(received.payload().host().get(JAVA_BYTE, last) == i + 1, "content of " + i);
        }
    }

    private static void require(final boolean condition, final String what) {
        if (!condition) {
            throw new IllegalStateException(what);
        }
    }
}
