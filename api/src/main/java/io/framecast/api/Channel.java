package io.framecast.api;

import java.nio.file.Path;

/// Where a stream goes and how: a group or fan-out address, a name, link and stream settings. Immutable.
/// Written as a URI, `framecast:<transport>?key=value|key=value`, for example
/// `framecast:auto?group=224.20.30.39:24326|channel=cam1|device=cuda:0`; `parse(toString())` is identity.
///
/// Keys and their meaning are listed in [ChannelKey]. Unknown keys are rejected with the nearest known one.
public sealed interface Channel permits Channel.Multicast, Channel.Fanout, Channel.Ipc {
    /// The name of a transport's provider, such as `udp`, `aeron` or `verbs`; `auto` for the best that works
    /// here. The node refuses a name that no provider found on the class path owns.
    String transport();

    /// Distinguishes streams on one group; letters, digits, `.`, `_` and `-`.
    String name();

    LinkConfig link();

    StreamConfig stream();

    Channel withTransport(String value);

    Channel withStream(StreamConfig value);

    /// A multicast group: each datagram is sent once, the network multiplies. Lanes use `port` (data), `port +
    /// 1` (repair) and `port + 2` (control).
    record Multicast(String transport, HostPort group, String name, LinkConfig link, StreamConfig stream)
            implements Channel {
        public Multicast {
            KeySyntax.TRANSPORT.require("transport", transport);
            ChannelKey.CHANNEL.require(name);
        }

        @Override
        public Multicast withTransport(final String value) {
            return new Multicast(value, group, name, link, stream);
        }

        @Override
        public Multicast withStream(final StreamConfig value) {
            return new Multicast(transport, group, name, link, value);
        }

        @Override
        public String toString() {
            return ChannelKey.format(this);
        }
    }

    /// Unicast fan-out for networks without multicast: receivers register at the source's address and the
    /// source's driver sends each of them a copy.
    record Fanout(String transport, HostPort control, String name, LinkConfig link, StreamConfig stream)
            implements Channel {
        public Fanout {
            KeySyntax.TRANSPORT.require("transport", transport);
            ChannelKey.CHANNEL.require(name);
        }

        @Override
        public Fanout withTransport(final String value) {
            return new Fanout(value, control, name, link, stream);
        }

        @Override
        public Fanout withStream(final StreamConfig value) {
            return new Fanout(transport, control, name, link, value);
        }

        @Override
        public String toString() {
            return ChannelKey.format(this);
        }
    }

    /// Shared memory within one host: both ends use the media driver of one directory.
    record Ipc(String transport, Path directory, String name, LinkConfig link, StreamConfig stream) implements Channel {
        public Ipc {
            KeySyntax.TRANSPORT.require("transport", transport);
            ChannelKey.CHANNEL.require(name);
        }

        @Override
        public Ipc withTransport(final String value) {
            return new Ipc(value, directory, name, link, stream);
        }

        @Override
        public Ipc withStream(final StreamConfig value) {
            return new Ipc(transport, directory, name, link, value);
        }

        @Override
        public String toString() {
            return ChannelKey.format(this);
        }
    }

    /// @throws io.framecast.api.error.ConfigException naming key, expectation and value
    static Channel parse(final String uri) {
        return ChannelParser.parse(uri);
    }
}
