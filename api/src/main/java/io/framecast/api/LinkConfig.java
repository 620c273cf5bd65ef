package io.framecast.api;

/// How the channel uses the network.
///
/// @param networkInterface name (`eth0`) or literal address of the interface; empty lets the transport choose
///     and say
/// @param mtuBytes largest IP packet, 0 for the interface's own MTU; datagrams are never fragmented
/// @param ttl hop limit of multicast, 0 … 255, and over `udp` and `verbs` of unicast, at least 1
/// @param dscp the code point that marks IP packets for the network (RFC 2474), 0 … 63: all packets that this
///     end sends, control and one-sided operations too. Over `udp` and `verbs`; `aeron` refuses another than 0
/// @param socketBufferBytes wanted socket buffers (SO_RCVBUF, SO_SNDBUF), 0 for as much as the system gives
/// @param rateBytes most bytes of datagrams that a source sends per second, Framecast's headers and what is
///     sent again included, those of UDP and IP not; 0 for as many as receivers give credit for
/// @param oneSided whether grants are written into memory of the source, and repairs read out of it or a
///     co-root's, where the transport can; else all of it goes by datagram
/// @param unicastPorts ports that this end's own sockets are bound to, so that a firewall can let them through;
///     see the README, "Ports". Of `udp` and `aeron`; `verbs` has queue pairs instead
/// @param security who may take part
public record LinkConfig(
        String networkInterface,
        int mtuBytes,
        int ttl,
        int dscp,
        long socketBufferBytes,
        long rateBytes,
        boolean oneSided,
        PortRange unicastPorts,
        SecurityOptions security) {
    public static final LinkConfig DEFAULT = of(ChannelKey::defaultValue);
    public static final int MTU_BYTES_MIN = 1280;
    public static final int MTU_BYTES_MAX = 65_536;
    public static final int DSCP_MAX = 63;

    /// 8 kbit/s.
    public static final long RATE_BYTES_MIN = 1_000;
    /// 8 Tbit/s.
    public static final long RATE_BYTES_MAX = 1_000_000_000_000L;

    /// Unmarked, one-sided where the transport can, and for everybody.
    public LinkConfig(
            final String networkInterface,
            final int mtuBytes,
            final int ttl,
            final long socketBufferBytes,
            final long rateBytes) {
        this(
                networkInterface,
                mtuBytes,
                ttl,
                0,
                socketBufferBytes,
                rateBytes,
                true,
                PortRange.ANY,
                SecurityOptions.DEFAULT);
    }

    public LinkConfig {
        ChannelKey.MTU.require(mtuBytes);
        ChannelKey.TTL.require(ttl);
        ChannelKey.DSCP.require(dscp);
        ChannelKey.SOCKET_BUFFER.require(socketBufferBytes);
        ChannelKey.RATE.require(rateBytes);
    }

    static LinkConfig of(final KeyValues values) {
        return new LinkConfig(
                values.get(ChannelKey.INTERFACE),
                values.get(ChannelKey.MTU),
                values.get(ChannelKey.TTL),
                values.get(ChannelKey.DSCP),
                values.get(ChannelKey.SOCKET_BUFFER),
                values.get(ChannelKey.RATE),
                values.get(ChannelKey.ONE_SIDED),
                values.get(ChannelKey.UNICAST_PORTS),
                SecurityOptions.of(values));
    }

    public LinkConfig withNetworkInterface(final String value) {
        return of(KeyValues.of(this, security).with(ChannelKey.INTERFACE, value));
    }

    /// The byte of the IP header (TOS, traffic class) that says so; its bits of congestion are left to the
    /// network.
    public int trafficClass() {
        return dscp << 2;
    }
}
