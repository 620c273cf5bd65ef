package io.framecast.rdma;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.framecast.api.Channel;
import io.framecast.api.provider.TransportConfig;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.Transport;
import io.framecast.rdma.verbs.Fabric;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The mark that `dscp=` gives packets, and the hop limit that `ttl=` gives them. Devices land the routing header
/// before
/// each datagram: a packet's own are there.
abstract class TrafficClassContract {
    private static final LaneRings RINGS = new LaneRings(8, 24, 64);
    // In the 40 bytes: behind 20 of zeros, the second of the IPv4 header.
    private static final int IPV4_TOS = 21;
    private static final int IPV4_TTL = 28;

    // The other two bits are a device's own, for congestion.
    private static final int DSCP_BITS = 0xfc;

    Fabric fabric;

    /// With two devices.
    abstract Fabric fabric();

    @BeforeEach
    final void choose() {
        fabric = fabric();
    }

    /// @param device number of it
    final Transport open(final int device, final int dscp) {
        return open(device, "dscp=" + dscp);
    }

    private Transport open(final int device, final String key) {
        final Channel channel = Channel.parse(
                "framecast:verbs?group=239.77.5.8:4000|channel=marks|" + key + "|interface=" + fabric.device(device));
        return VerbsTransport.open(fabric.library(), new TransportConfig(channel, _ -> {}));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 26, 63})
    final void shouldMarkWhatGoesToTheGroupAndToOne(final int dscp) {
        assertHeaders("dscp=" + dscp, IPV4_TOS, DSCP_BITS, dscp << 2, dscp << 2);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 9, 255})
    final void shouldLimitTheHopsOfWhatGoesToTheGroupAndToOne(final int ttl) {
        assertHeaders("ttl=" + ttl, IPV4_TTL, 0xff, ttl, hopsToOne(ttl));
    }

    /// Hops of a datagram to one receiver.
    abstract int hopsToOne(int ttl);

    // A byte of the routing headers of a datagram to the group, and of one to a peer.
    private void assertHeaders(final String key, final int at, final int bits, final int ofGroup, final int ofOne) {
        try (Arena arena = Arena.ofShared();
                Transport near = open(0, key);
                Transport far = open(1, 7)) {
            final Lane source = RINGS.control(near, arena);
            final ReceiveRing ring = RINGS.receive(arena);
            final Lane receiver =
                    far.open(new LaneConfig(LaneKind.CONTROL, LaneConfig.Role.RECEIVER, RINGS.send(arena), ring, null));
            receiver.post(0, 8);
            assertEquals(1, source.multicast(0, 1));
            final int peer = source.connect(receiver.address());
            Wait.until("an address handle", () -> source.unicast(peer, 1, 1) == 1);
            final Completions completions = new Completions(8);
            Wait.until("two datagrams", () -> {
                receiver.poll(completions);
                return completions.count() == 2;
            });
            for (int i = 0; i < 2; i++) {
                final long header = (long) completions.slot(i) * ring.headerStride();
                assertEquals(i == 0 ? ofGroup : ofOne, ring.headers().get(JAVA_BYTE, header + at) & bits);
            }
        }
    }
}
