package io.framecast.engine.node;

import io.framecast.api.Channel;
import org.jspecify.annotations.Nullable;

/// Notices that something foreign keeps arriving on a channel's ports: another channel whose ports overlap, or
/// another program. It costs this channel's control lane the room that NACKs and heartbeats need.
///
/// Pure state; one thread.
final class ForeignTraffic {
    static final long LOOK_NS = 1_000_000_000;

    // Strays come one by one.
    private static final long PER_LOOK_MIN = 20;
    private static final int LOOKS_MIN = 2;
    private static final long AGAIN_NS = 60_000_000_000L;

    private final String role;
    private final Channel channel;
    private long seen;
    private int looks;
    private long againNs;

    /// @param role `subscriber`, or `publisher`, which hears unicast alone
    ForeignTraffic(final String role, final Channel channel) {
        this.role = role;
        this.channel = channel;
    }

    /// To be called every [#LOOK_NS].
    ///
    /// @param foreign datagrams so far that no peer of this channel can have sent
    /// @return what to tell the user; null mostly
    @Nullable
    String look(final long foreign, final long nowNs) {
        final long more = foreign - seen;
        seen = foreign;
        looks = more >= PER_LOOK_MIN ? looks + 1 : 0;
        if (looks < LOOKS_MIN || nowNs < againNs) {
            return null;
        }
        againNs = nowNs + AGAIN_NS;
        final String what = role + " of " + channel.name() + ": " + more
                + " datagrams a second that are not this channel's reach its ports";
        return role.equals("subscriber")
                ? what + ports()
                        + ": another channel or program sends there; keep the ports of two channels three apart,"
                        + " or give each its own group address"
                : what + ": another program sends to its unicast ports; choose others by unicast-ports=";
    }

    private String ports() {
        return switch (channel) {
            case Channel.Multicast multicast -> {
                final int port = multicast.group().port();
                yield " (" + port + " data, " + (port + 1) + " repair, " + (port + 2) + " control)";
            }
            case Channel.Fanout _, Channel.Ipc _ -> "";
        };
    }
}
