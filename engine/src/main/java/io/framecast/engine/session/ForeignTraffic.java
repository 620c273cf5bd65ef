package io.framecast.engine.session;

import io.framecast.api.Channel;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneCounter;
import io.framecast.reliability.flow.StrayWatch;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.VerdictCounts;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/// Warns when foreign datagrams keep arriving on a channel's ports, from a channel whose ports overlap or from
/// another program. They take room in this channel's control lane that NACKs and heartbeats need.
///
/// Used by one thread; checks once a second.
public final class ForeignTraffic {
    private static final List<Verdict> FOREIGN =
            List.of(Verdict.BAD_LENGTH, Verdict.BAD_VERSION, Verdict.BAD_TYPE, Verdict.BAD_CHECKSUM, Verdict.BAD_TAG);

    private final String owner;
    private final String advice;
    private final LongSupplier foreign;
    private final Consumer<String> notices;
    private final StrayWatch watch = new StrayWatch();

    private ForeignTraffic(
            final String owner, final String advice, final LongSupplier foreign, final Consumer<String> notices) {
        this.owner = owner;
        this.advice = advice;
        this.foreign = foreign;
        this.notices = notices;
    }

    /// @param foreign datagrams so far that no peer of this channel can have sent
    public static ForeignTraffic ofSubscriber(
            final Channel channel, final LongSupplier foreign, final Consumer<String> notices) {
        return new ForeignTraffic(
                "subscriber of " + channel.name(),
                ports(channel) + ": another channel or program sends there; keep the ports of two channels three apart,"
                        + " or give each its own group address",
                foreign,
                notices);
    }

    /// A publisher receives unicast only.
    ///
    /// @param foreign datagrams so far that no peer of this channel can have sent
    public static ForeignTraffic ofPublisher(
            final Channel channel, final LongSupplier foreign, final Consumer<String> notices) {
        return new ForeignTraffic(
                "publisher of " + channel.name(),
                ": another program sends to its unicast ports; choose other ports by unicast-ports=",
                foreign,
                notices);
    }

    /// Datagrams that a lane dropped for their length, before any of their bytes were read.
    public static long datagrams(final Lane lane) {
        return lane.counter(LaneCounter.TRUNCATED) + lane.counter(LaneCounter.MALFORMED);
    }

    /// Datagrams that no peer of the protocol can have sent.
    public static long datagrams(final VerdictCounts verdicts) {
        long total = 0;
        for (final Verdict verdict : FOREIGN) {
            total += verdicts.get(verdict);
        }
        return total;
    }

    public void tick(final long nowNs) {
        final long more = watch.look(foreign, nowNs);
        if (more > 0) {
            notices.accept(
                    owner + ": " + more + " datagrams a second that are not this channel's reach its ports" + advice);
        }
    }

    private static String ports(final Channel channel) {
        return switch (channel) {
            case Channel.Multicast multicast -> {
                final int port = multicast.group().port();
                yield " (" + port + " data, " + (port + 1) + " repair, " + (port + 2) + " control)";
            }
            case Channel.Fanout _, Channel.Ipc _ -> "";
        };
    }
}
