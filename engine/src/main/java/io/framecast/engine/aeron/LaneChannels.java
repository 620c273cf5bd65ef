package io.framecast.engine.aeron;

import io.framecast.api.Channel;
import io.framecast.api.HostPort;
import io.framecast.api.PortRange;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.LaneConfig.Role;
import io.framecast.api.spi.LaneKind;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// The channel's lanes as Aeron's URIs and stream ids.
///
/// Receivers subscribe with `reliable=false`: Aeron then skips a gap as soon as it sees one, and sends no NACK.
/// (1.51 has no reorder allowance there: a datagram that comes after its gap was filled is lost.) Publications to
/// many use `fc=max`: the fastest receiver moves the sender on, so that a dead or slow one cannot hold all
/// back. Framecast's credit decides which receiver may. `min` and `tagged` would wait for the slowest.
final class LaneChannels {
    /// Streams of one channel name; three lanes and room for more.
    private static final int STREAMS_PER_NAME = 4;

    /// A shared-memory publication waits for its slowest subscriber. It skips one that does not move for so
    /// long, which then finds a gap, like a receiver on a network.
    private static final String UNTETHERED =
            "|untethered-window-limit-timeout=1s|untethered-linger-timeout=1s|untethered-resting-timeout=100ms";

    private final Channel channel;
    private final LocalLink link;
    private final long unicastTag;
    private final int firstStream;
    private int unicastPort = -1;

    /// @param unicastTag a number of this transport's own among those of its driver: one socket receives the
    ///     unicast of all its lanes
    LaneChannels(final Channel channel, final LocalLink link, final long unicastTag) {
        this.channel = channel;
        this.link = link;
        this.unicastTag = unicastTag;
        final CRC32C hash = new CRC32C();
        hash.update(channel.name().getBytes(java.nio.charset.StandardCharsets.UTF_8));
        firstStream = (int) hash.getValue() & (Integer.MAX_VALUE - STREAMS_PER_NAME + 1);
    }

    int groupStream(final LaneKind kind) {
        return firstStream + 1 + kind.portOffset();
    }

    /// Null for a receiver in unicast fan-out, which has no group to send to.
    @Nullable
    String groupPublication(final LaneKind kind, final Role role, final int sessionId, final LaneSizes sizes) {
        final String common =
                "|session-id=" + sessionId + "|mtu=" + sizes.mtuBytes() + "|term-length=" + sizes.groupTermBytes();
        return switch (channel) {
            case Channel.Ipc _ -> "aeron:ipc?" + common.substring(1) + UNTETHERED;
            case Channel.Multicast multicast ->
                "aeron:udp?endpoint=" + lanePort(multicast.group(), kind) + "|interface=" + literal(ip()) + "|ttl="
                        + multicast.link().ttl() + "|fc=max" + sendBuffer() + common;
            case Channel.Fanout fanout ->
                role == Role.RECEIVER
                        ? null
                        : "aeron:udp?control=" + lanePort(fanout.control(), kind) + "|control-mode=dynamic|fc=max"
                                + sendBuffer() + common;
        };
    }

    /// @param session the one source to receive from, or null for all
    String groupSubscription(final LaneKind kind, final @Nullable Integer session) {
        final String one = session == null ? "" : "|session-id=" + session;
        return switch (channel) {
            case Channel.Ipc _ -> "aeron:ipc?tether=false" + one;
            case Channel.Multicast multicast ->
                "aeron:udp?endpoint=" + lanePort(multicast.group(), kind) + "|interface=" + literal(ip()) + receive()
                        + one;
            case Channel.Fanout fanout ->
                "aeron:udp?endpoint=" + literal(ip()) + ":"
                        + freePort(fanout.link().unicastPorts()) + "|control="
                        + lanePort(fanout.control(), kind) + receive()
                        + one;
        };
    }

    String unicastSubscription() {
        return isSharedMemory()
                ? "aeron:ipc?tether=false"
                : "aeron:udp?endpoint=" + literal(ip()) + ":" + unicastPort() + "|tags=" + unicastTag + receive();
    }

    // One socket for all lanes: the port is picked once.
    private int unicastPort() {
        if (unicastPort < 0) {
            unicastPort = freePort(channel.link().unicastPorts());
        }
        return unicastPort;
    }

    /// The driver could not bind the port: the next free one is tried.
    ///
    /// @return false where the system picks ports, or there are no more
    boolean takeNextPort() {
        final PortRange ports = channel.link().unicastPorts();
        if (ports.isAny() || unicastPort < 0 || unicastPort >= ports.last()) {
            return false;
        }
        unicastPort = freePort(new PortRange(unicastPort + 1, ports.last()));
        return true;
    }

    /// Picks a port for a socket that the media driver opens a moment later; 0 where the system picks it.
    private int freePort(final PortRange ports) {
        if (ports.isAny()) {
            return 0;
        }
        for (int port = ports.first(); port <= ports.last(); port++) {
            if (isFree(new InetSocketAddress(ip(), port))) {
                return port;
            }
        }
        throw new ConfigException("unicast-ports: none of " + ports + " is free on " + ip().getHostAddress()
                + "; widen the range, or stop the programs that use them");
    }

    private static boolean isFree(final InetSocketAddress address) {
        try (DatagramSocket socket = new DatagramSocket(null)) {
            socket.setReuseAddress(false);
            socket.bind(address);
            return true;
        } catch (final IOException _) {
            return false;
        }
    }

    String unicastPublication(final PeerAddress peer, final LaneSizes sizes) {
        final String common = "mtu=" + sizes.mtuBytes() + "|term-length=" + sizes.unicastTermBytes();
        final InetAddress peerIp = peer.ip();
        return peerIp == null
                ? "aeron:ipc?" + common + UNTETHERED
                : "aeron:udp?endpoint=" + literal(peerIp) + ":" + peer.port() + sendBuffer() + "|" + common;
    }

    boolean isSharedMemory() {
        return link.ip() == null;
    }

    private String receive() {
        return "|reliable=false|tether=false|rcv-wnd=" + link.receiveBufferBytes() + "|so-rcvbuf="
                + link.receiveBufferBytes();
    }

    private String sendBuffer() {
        return "|so-sndbuf=" + link.sendBufferBytes();
    }

    private InetAddress ip() {
        final InetAddress ip = link.ip();
        if (ip == null) {
            throw new IllegalStateException("shared memory has no address");
        }
        return ip;
    }

    /// Three lanes on consecutive ports.
    private static String lanePort(final HostPort first, final LaneKind kind) {
        return literal(first.address()) + ":" + (first.port() + kind.portOffset());
    }

    static String literal(final InetAddress ip) {
        final String text = ip.getHostAddress();
        if (!(ip instanceof Inet6Address)) {
            return text;
        }
        final int scope = text.indexOf('%');
        return "[" + (scope < 0 ? text : text.substring(0, scope)) + "]";
    }

    static void requireOddGroup(final Channel channel) {
        if (channel instanceof Channel.Multicast multicast) {
            final HostPort group = multicast.group();
            final byte[] bytes = group.address().getAddress();
            if ((bytes[bytes.length - 1] & 1) == 0) {
                throw new TransportException(
                        "group: aeron needs an address whose last byte is odd (the next one carries "
                                + "its own feedback), got " + group.host() + "; choose another, or transport udp");
            }
        }
    }
}
