package io.framecast.engine.udp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.api.Channel;
import io.framecast.api.error.NativeException;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneConfig.Role;
import io.framecast.api.spi.LaneKind;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.SocketOption;
import java.lang.foreign.Arena;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A lane's sockets as the kernel shows them.
final class LaneSocketsTest {
    @ParameterizedTest
    @CsvSource({"DATA, '', 0", "DATA, |dscp=26, 104", "REPAIR, |dscp=63, 252", "CONTROL, |dscp=1, 4"})
    void shouldMarkWhatItSends(final LaneKind kind, final String key, final int trafficClass) {
        UdpTests.assumeUdp();
        final Channel.Multicast channel = (Channel.Multicast) Channel.parse(UdpTests.URI + key);
        try (Arena arena = Arena.ofConfined();
                LaneSockets sockets = LaneSockets.open(
                        arena,
                        UdpLink.of(channel, UdpTests::ignore),
                        new SocketBuffers(0, UdpTests::ignore),
                        new LaneConfig(kind, Role.SOURCE, UdpTests.sendRing(arena, 8, 64), null, null))) {
            final LinuxSocket own = Objects.requireNonNull(sockets.own());
            assertEquals(trafficClass, own.option(IpFamily.IPV4.option(Linux.IP_TOS, Linux.IPV6_TCLASS)));
        }
    }

    /// Of 0 the kernel knows nothing where the datagram is for one host.
    @ParameterizedTest
    @CsvSource({"DATA, '', 1, 1", "REPAIR, |ttl=9, 9, 9", "CONTROL, |ttl=255, 255, 255", "CONTROL, |ttl=0, 0, 1"})
    void shouldLimitTheHopsOfWhatItSends(final LaneKind kind, final String key, final int group, final int one) {
        UdpTests.assumeUdp();
        final Channel.Multicast channel = (Channel.Multicast) Channel.parse(UdpTests.URI + key);
        try (Arena arena = Arena.ofConfined();
                LaneSockets sockets = LaneSockets.open(
                        arena,
                        UdpLink.of(channel, UdpTests::ignore),
                        new SocketBuffers(0, UdpTests::ignore),
                        new LaneConfig(kind, Role.SOURCE, UdpTests.sendRing(arena, 8, 64), null, null))) {
            final LinuxSocket own = Objects.requireNonNull(sockets.own());
            assertEquals(group, own.option(IpFamily.IPV4.option(Linux.IP_MULTICAST_TTL, Linux.IPV6_MULTICAST_HOPS)));
            assertEquals(one, own.option(IpFamily.IPV4.option(Linux.IP_TTL, Linux.IPV6_UNICAST_HOPS)));
        }
    }

    @Test
    void shouldMarkByIpv6() {
        UdpTests.assumeUdp();
        try (Arena arena = Arena.ofConfined();
                LinuxSocket socket = LinuxSocket.open(arena, IpFamily.IPV6)) {
            final SocketOption trafficClass = IpFamily.IPV6.option(Linux.IP_TOS, Linux.IPV6_TCLASS);
            socket.option(trafficClass, 104);
            assertEquals(104, socket.option(trafficClass));
        } catch (final NativeException e) {
            assumeTrue(e.errno() != Linux.EAFNOSUPPORT, "no IPv6 here");
            throw e;
        }
    }
}
