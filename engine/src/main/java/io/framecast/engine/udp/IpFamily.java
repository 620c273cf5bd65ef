package io.framecast.engine.udp;

import io.framecast.engine.udp.Sockets.Option;
import java.net.Inet4Address;
import java.net.InetAddress;

/// What differs between IPv4 and IPv6.
enum IpFamily {
    IPV4(SocketLayouts.AF_INET, 4, SocketLayouts.SOCKADDR_IN_BYTES, 28, SocketLayouts.IPPROTO_IP),
    IPV6(SocketLayouts.AF_INET6, 16, SocketLayouts.SOCKADDR_IN6_BYTES, 48, SocketLayouts.IPPROTO_IPV6);

    private final int number;
    private final int addressBytes;
    private final int sockaddrBytes;
    private final int headersBytes;
    private final int level;

    IpFamily(
            final int number,
            final int addressBytes,
            final int sockaddrBytes,
            final int headersBytes,
            final int level) {
        this.number = number;
        this.addressBytes = addressBytes;
        this.sockaddrBytes = sockaddrBytes;
        this.headersBytes = headersBytes;
        this.level = level;
    }

    static IpFamily of(final InetAddress address) {
        return address instanceof Inet4Address ? IPV4 : IPV6;
    }

    /// AF_INET or AF_INET6.
    int number() {
        return number;
    }

    int addressBytes() {
        return addressBytes;
    }

    int sockaddrBytes() {
        return sockaddrBytes;
    }

    /// IP and UDP headers of a datagram.
    int headersBytes() {
        return headersBytes;
    }

    Option multicastInterface() {
        return option(SocketLayouts.IP_MULTICAST_IF, SocketLayouts.IPV6_MULTICAST_IF);
    }

    Option multicastHops() {
        return option(SocketLayouts.IP_MULTICAST_TTL, SocketLayouts.IPV6_MULTICAST_HOPS);
    }

    Option trafficClass() {
        return option(SocketLayouts.IP_TOS, SocketLayouts.IPV6_TCLASS);
    }

    Option multicastLoop() {
        return option(SocketLayouts.IP_MULTICAST_LOOP, SocketLayouts.IPV6_MULTICAST_LOOP);
    }

    Option multicastAll() {
        return option(SocketLayouts.IP_MULTICAST_ALL, SocketLayouts.IPV6_MULTICAST_ALL);
    }

    Option membership() {
        return option(SocketLayouts.IP_ADD_MEMBERSHIP, SocketLayouts.IPV6_ADD_MEMBERSHIP);
    }

    Option mtuDiscover() {
        return option(SocketLayouts.IP_MTU_DISCOVER, SocketLayouts.IPV6_MTU_DISCOVER);
    }

    /// Has the kernel tell of errors that it otherwise keeps to itself: without it, what the interface's queue has no
    /// room for is dropped, and the send succeeds.
    Option receiveErrors() {
        return option(SocketLayouts.IP_RECVERR, SocketLayouts.IPV6_RECVERR);
    }

    private Option option(final int ofIpv4, final int ofIpv6) {
        return new Option(level, this == IPV4 ? ofIpv4 : ofIpv6);
    }
}
