package io.framecast.engine.aeron;

import io.framecast.api.Channel;
import io.framecast.api.LinkConfig;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.TransportException;
import io.framecast.engine.net.LocalInterface;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.StandardSocketOptions;
import java.nio.channels.DatagramChannel;
import org.agrona.BitUtil;
import org.jspecify.annotations.Nullable;

/// The address, MTU and socket buffers that this machine gives a channel, found when the transport opens.
///
/// @param ip local address that lanes bind to and peers answer to; null for shared memory
/// @param mtuBytes Aeron's MTU: the UDP payload of one unfragmented IP packet, a multiple of 32
/// @param receiveBufferBytes effective SO_RCVBUF
/// @param sendBufferBytes effective SO_SNDBUF
record LocalLink(@Nullable InetAddress ip, int mtuBytes, int receiveBufferBytes, int sendBufferBytes) {
    /// Largest and smallest MTU that Aeron takes.
    static final int MTU_BYTES_MAX = 65_504;

    static final int MTU_ALIGNMENT = 32;

    /// Wanted socket buffers where the channel names none: 3 ms at 10 Gbit/s, which a machine that is set
    /// up for media allows. More would only grow the shared memory behind it.
    static final int BUFFER_BYTES_WANTED = 4 << 20;

    private static final int UDP_HEADER_BYTES = 8;
    private static final int IPV4_HEADER_BYTES = 20;
    private static final int IPV6_HEADER_BYTES = 40;
    private static final int DISCARD_PORT = 9;

    static LocalLink of(final Channel channel, final Notices notices) {
        final LinkConfig link = channel.link();
        return switch (channel) {
            case Channel.Ipc _ -> ofSharedMemory(link);
            case Channel.Multicast multicast ->
                ofNetwork(link, multicastAddress(link, multicast.group().address(), notices), notices);
            case Channel.Fanout fanout ->
                ofNetwork(link, fanoutAddress(link, fanout.control().address()), notices);
        };
    }

    private static LocalLink ofSharedMemory(final LinkConfig link) {
        final int mtu = link.mtuBytes() == 0 ? MTU_BYTES_MAX : Math.min(link.mtuBytes(), MTU_BYTES_MAX);
        return new LocalLink(null, BitUtil.align(mtu - MTU_ALIGNMENT + 1, MTU_ALIGNMENT), 0, 0);
    }

    private static LocalLink ofNetwork(final LinkConfig link, final InetAddress ip, final Notices notices) {
        final int mtu = aeronMtu(link.mtuBytes() == 0 ? interfaceMtu(ip) : link.mtuBytes(), ip);
        final int wanted = link.socketBufferBytes() == 0 ? BUFFER_BYTES_WANTED : (int) link.socketBufferBytes();
        try (DatagramChannel probe = DatagramChannel.open()) {
            probe.setOption(StandardSocketOptions.SO_RCVBUF, wanted);
            probe.setOption(StandardSocketOptions.SO_SNDBUF, wanted);
            final int receive = Math.min(wanted, probe.getOption(StandardSocketOptions.SO_RCVBUF));
            final int send = Math.min(wanted, probe.getOption(StandardSocketOptions.SO_SNDBUF));
            check(notices, "SO_RCVBUF", "net.core.rmem_max", wanted, receive, mtu);
            check(notices, "SO_SNDBUF", "net.core.wmem_max", wanted, send, mtu);
            return new LocalLink(ip, mtu, receive, send);
        } catch (final IOException e) {
            throw new TransportException(
                    "aeron: no UDP socket: " + e.getMessage() + "; raise ulimit -n or allow UDP", e);
        }
    }

    // A buffer may be smaller than wanted, but not than a datagram.
    private static void check(
            final Notices notices,
            final String option,
            final String sysctl,
            final int wanted,
            final int effective,
            final int mtuBytes) {
        if (effective < wanted) {
            notices.once(
                    option,
                    "aeron: wanted " + option + " of " + wanted + " bytes, got " + effective
                            + ": throughput will suffer; run sysctl -w " + sysctl + "=" + wanted);
        }
        if (effective < mtuBytes) {
            throw new TransportException("aeron: " + option + " of " + effective + " bytes does not hold a datagram of "
                    + mtuBytes + "; raise socket-buffer= and sysctl " + sysctl + ", or lower mtu=");
        }
    }

    private static int aeronMtu(final int ipMtuBytes, final InetAddress ip) {
        final int headers = UDP_HEADER_BYTES + (ip instanceof Inet4Address ? IPV4_HEADER_BYTES : IPV6_HEADER_BYTES);
        final int bytes = Math.min(ipMtuBytes - headers, MTU_BYTES_MAX);
        return bytes - bytes % MTU_ALIGNMENT;
    }

    private static int interfaceMtu(final InetAddress ip) {
        try {
            final NetworkInterface owner = NetworkInterface.getByInetAddress(ip);
            if (owner == null) {
                throw new TransportException(
                        "interface: no interface has " + ip.getHostAddress() + "; set interface= or mtu=");
            }
            return owner.getMTU();
        } catch (final IOException e) {
            throw new TransportException("interface: no MTU for " + ip.getHostAddress() + "; set mtu=", e);
        }
    }

    private static InetAddress multicastAddress(final LinkConfig link, final InetAddress group, final Notices notices) {
        if (!link.networkInterface().isEmpty()) {
            return interfaceAddress(link.networkInterface(), group);
        }
        final InetAddress chosen = interfaceAddress("", group);
        notices.once(
                "interface",
                "aeron: interface " + chosen.getHostAddress() + " chosen for " + group.getHostAddress()
                        + "; set interface= for another");
        return chosen;
    }

    /// @param wanted interface or address that the channel names; empty for the first fit one
    private static InetAddress interfaceAddress(final String wanted, final InetAddress peer) {
        try {
            final InetAddress address = (wanted.isEmpty()
                            ? LocalInterface.first(peer, false)
                            : LocalInterface.named(wanted, peer))
                    .address();
            if (address instanceof Inet6Address && address.isLinkLocalAddress()) {
                // Its scope would be missing from a lane address.
                throw new TransportException("interface: aeron needs an address that is not link-local, got "
                        + address.getHostAddress() + "; give the interface one, or choose another");
            }
            return address;
        } catch (final ConfigException | IOException e) {
            throw new TransportException(String.valueOf(e.getMessage()), e);
        }
    }

    /// Where the channel names no interface: the address from which the system would reach the source. On the
    /// source itself that is the control address. The probe sends nothing.
    private static InetAddress fanoutAddress(final LinkConfig link, final InetAddress control) {
        if (!link.networkInterface().isEmpty()) {
            return interfaceAddress(link.networkInterface(), control);
        }
        try (DatagramSocket probe = new DatagramSocket()) {
            probe.connect(control, DISCARD_PORT);
            return probe.getLocalAddress();
        } catch (final IOException | java.io.UncheckedIOException e) {
            throw new TransportException(
                    "control: no route to " + control.getHostAddress() + "; set interface= or the route", e);
        }
    }
}
