package io.framecast.engine.publish;

import io.framecast.api.Channel;
import io.framecast.engine.session.DisconnectReason;
import io.framecast.engine.session.ForeignTraffic;
import io.framecast.engine.session.SessionContext;
import io.framecast.reliability.flow.Interval;
import io.framecast.reliability.send.SenderCount;
import io.framecast.reliability.send.SenderMachine;
import io.framecast.reliability.send.StallWatch;
import io.framecast.reliability.wire.StreamInfo;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// Notices to a source's operator about its stream: subscribers that are not ready, a path that drops full
/// datagrams, foreign datagrams, a process that stood still.
///
/// Used by the sender's thread.
final class PublisherNotices {
    private final String name;
    private final SenderMachine machine;
    private final UnreadyLines unready;
    private final ForeignTraffic foreign;
    private final StallWatch stalls;
    private final long patienceMs;
    private final Consumer<String> notices;
    private final Interval standstillNotice = new Interval(SessionContext.STANDSTILL_NOTICE_NS);

    PublisherNotices(
            final Channel channel,
            final StreamInfo stream,
            final SenderMachine machine,
            final SourceLanes lanes,
            final Consumer<String> notices) {
        name = "publisher of " + stream.channel();
        this.machine = machine;
        this.notices = notices;
        unready = new UnreadyLines(lanes::describe, stream, machine.joinAttempts(), notices);
        foreign = ForeignTraffic.ofPublisher(
                channel,
                () -> ForeignTraffic.datagrams(lanes.control().lane()) + ForeignTraffic.datagrams(machine.verdicts()),
                notices);
        patienceMs = channel.stream().aliveTimeoutMs();
        stalls = new StallWatch(TimeUnit.MILLISECONDS.toNanos(patienceMs));
    }

    /// Subscribers that asked to join and are not ready.
    UnreadyLines unready() {
        return unready;
    }

    /// Ten times a second.
    void look(final long nowNs) {
        unready.look(nowNs);
        foreign.tick(nowNs);
        final long sentAgain = stalls.look(
                machine.releasable(),
                machine.nextSequence(),
                machine.counts().get(SenderCount.REPAIRED_DATAGRAMS),
                nowNs);
        if (sentAgain > 0) {
            notices.accept(stall(sentAgain));
        }
    }

    private String stall(final long sentAgain) {
        return name + ": a live subscriber has got nothing new for " + patienceMs + " ms, though " + sentAgain
                + " datagrams were sent again; something on the way drops"
                + " them: look at its MTU and firewall, or publish anew with a smaller mtu=";
    }

    /// In each cycle.
    ///
    /// @param stoodNs for how long the process stood still before; 0 for not
    void onStandstill(final long stoodNs, final long nowNs) {
        if (stoodNs > 0 && standstillNotice.take(nowNs)) {
            notices.accept(name + ": " + DisconnectReason.standstill(stoodNs / 1_000_000) + "; asking its subscribers");
        }
    }
}
