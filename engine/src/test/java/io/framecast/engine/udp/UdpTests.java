package io.framecast.engine.udp;

import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.api.Channel;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneConfig.Role;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.SendRing;
import io.framecast.api.spi.Transport;
import io.framecast.testing.TestPorts;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Fixtures of the tests in this package.
final class UdpTests {
    static final int PORT = TestPorts.triple();
    static final String GROUP = "framecast:udp?group=224.20.30.41:" + PORT;
    static final String URI = GROUP + "|interface=lo";
    static final int HEADER_BYTES = 40;

    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(60);

    private UdpTests() {}

    static void assumeUdp() {
        final Optional<String> reason = new UdpTransportProvider().unavailable();
        assumeTrue(reason.isEmpty(), () -> reason.orElse(""));
    }

    static void ignore(final String warning) {
        // Buffers may be as small as they like here.
    }

    static Transport open(final String uri) {
        return open(uri, UdpTests::ignore);
    }

    static Transport open(final String uri, final Consumer<String> warnings) {
        assumeUdp();
        return new UdpTransportProvider().open(new TransportConfig(Channel.parse(uri), warnings));
    }

    /// A ring whose slots are all full.
    static SendRing sendRing(final Arena arena, final int slots, final int payloadBytes) {
        final int[] lengths = new int[slots];
        java.util.Arrays.fill(lengths, payloadBytes);
        return new SendRing(
                arena.allocate((long) slots * HEADER_BYTES, 64),
                HEADER_BYTES,
                arena.allocate((long) slots * payloadBytes, 64),
                payloadBytes,
                lengths);
    }

    static ReceiveRing receiveRing(final Arena arena, final int slots, final int payloadBytes) {
        return new ReceiveRing(
                arena.allocate((long) slots * HEADER_BYTES, 64),
                HEADER_BYTES,
                HEADER_BYTES,
                DeviceRegion.ofHost(arena.allocate((long) slots * payloadBytes, 64)),
                payloadBytes,
                slots);
    }

    static Lane source(final Transport transport, final SendRing ring) {
        return transport.open(new LaneConfig(LaneKind.DATA, Role.SOURCE, ring, null, null));
    }

    static Lane receiver(final Transport transport, final ReceiveRing ring, final Lane source) {
        return transport.open(new LaneConfig(LaneKind.DATA, Role.RECEIVER, null, ring, source.address()));
    }

    static void awaitUntil(final String what, final BooleanSupplier condition) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - startNs > DEADLINE_NS) {
                fail("waited in vain for " + what);
            }
            Thread.onSpinWait();
        }
    }

    /// The sockets of this process, each by a name that no other one ever has.
    static Set<String> sockets() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.map(UdpTests::target)
                    .filter(target -> target.startsWith("socket:"))
                    .collect(Collectors.toSet());
        }
    }

    /// How many there are that were not there. Those of an earlier test may close meanwhile.
    static long socketsSince(final Set<String> before) throws IOException {
        return sockets().stream().filter(socket -> !before.contains(socket)).count();
    }

    private static String target(final Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (final IOException e) {
            // Closed since it was listed.
            return "";
        }
    }
}
