package io.framecast.engine.udp;

import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.SocketOption;
import java.net.Inet4Address;
import java.net.InetAddress;

/// Sizes, numbers and socket options in which IPv4 and IPv6 differ.
enum IpFamily {
    IPV4(4, Linux.AF_INET, 4, Linux.SOCKADDR_IN_BYTES, 28, Linux.IPPROTO_IP),
    IPV6(6, Linux.AF_INET6, 16, Linux.SOCKADDR_IN6_BYTES, 48, Linux.IPPROTO_IPV6);

    /// 4 or 6.
    final byte version;
    /// AF_INET or AF_INET6.
    final int number;
    final int addressBytes;
    final int sockaddrBytes;
    /// Bytes of the IP and UDP headers of a datagram.
    final int headersBytes;
    private final int level;

    IpFamily(
            final int version,
            final int number,
            final int addressBytes,
            final int sockaddrBytes,
            final int headersBytes,
            final int level) {
        this.version = (byte) version;
        this.number = number;
        this.addressBytes = addressBytes;
        this.sockaddrBytes = sockaddrBytes;
        this.headersBytes = headersBytes;
        this.level = level;
    }

    static IpFamily of(final InetAddress address) {
        return address instanceof Inet4Address ? IPV4 : IPV6;
    }

    /// The option of this family's level that has these numbers.
    SocketOption option(final int ofIpv4, final int ofIpv6) {
        return new SocketOption(level, this == IPV4 ? ofIpv4 : ofIpv6);
    }
}
