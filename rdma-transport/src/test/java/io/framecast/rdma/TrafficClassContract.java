package io.framecast.rdma;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.api.Channel;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.OneSidedEndpoint.State;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportConfig;
import io.framecast.rdma.verbs.Fabric;
import java.lang.foreign.Arena;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What `dscp=` marks packets with, on the stand-in. As devices do, it lands the routing header before each datagram:
/// a packet's own mark is there.
final class TrafficClassTest {
    private static final LaneRings RINGS = new LaneRings(8, 24, 64);
    // In the 40 bytes: behind 20 of zeros, the second of the IPv4 header.
    private static final int IPV4_TOS = 21;

    private final Fabric fabric = Fabric.standIn();

    private Transport open(final String device, final int dscp) {
        final Channel channel = Channel.parse(
                "framecast:verbs?group=239.77.5.8:4000|channel=marks|dscp=" + dscp + "|interface=" + device);
        return VerbsTransport.open(fabric.library(), new TransportConfig(channel, _ -> {}));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 26, 63})
    void shouldMarkWhatGoesToTheGroupAndToOne(final int dscp) {
        try (Arena arena = Arena.ofShared();
                Transport near = open("standin0", dscp);
                Transport far = open("standin1", 7)) {
            final Lane source = RINGS.control(near, arena);
            final ReceiveRing ring = RINGS.receive(arena);
            final Lane receiver =
                    far.open(new LaneConfig(LaneKind.CONTROL, LaneConfig.Role.RECEIVER, RINGS.send(arena), ring, null));
            receiver.post(0, 8);
            assertEquals(1, source.multicast(0, 1));
            final int peer = source.connect(receiver.address());
            Wait.until("a way", () -> source.unicast(peer, 1, 1) == 1);
            final Completions completions = new Completions(8);
            Wait.until("two datagrams", () -> {
                receiver.poll(completions);
                return completions.count() == 2;
            });
            for (int i = 0; i < 2; i++) {
                final long header = (long) completions.slot(i) * ring.headerStride();
                assertEquals(dscp << 2, ring.headers().get(JAVA_BYTE, header + IPV4_TOS) & 0xff);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 26, 63})
    void shouldMarkWhatGoesByReliableConnections(final int dscp) {
        try (Transport near = open("standin0", dscp);
                Transport far = open("standin1", 7)) {
            final OneSidedEndpoint actor =
                    Objects.requireNonNull(near.oneSided()).open(4);
            final OneSidedEndpoint server =
                    Objects.requireNonNull(far.oneSided()).accept(actor.descriptor());
            Wait.until("the server to be up", () -> server.state() == State.UP);
            assertEquals(7 << 2, fabric.count("connected_class"));
            actor.connect(server.descriptor());
            Wait.until("the actor to be up", () -> actor.state() == State.UP);
            assertEquals(dscp << 2, fabric.count("connected_class"));
        }
    }
}
