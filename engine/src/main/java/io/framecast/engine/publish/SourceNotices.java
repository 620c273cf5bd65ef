package io.framecast.engine.publish;

import io.framecast.api.Channel;
import io.framecast.engine.session.DisconnectReason;
import io.framecast.engine.session.ForeignTraffic;
import io.framecast.engine.session.SessionContext;
import io.framecast.reliability.send.SenderCount;
import io.framecast.reliability.send.SenderMachine;
import io.framecast.reliability.wire.StreamInfo;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// Notices to a source's operator about its stream: subscribers that are not ready, a path that drops full datagrams,
/// foreign datagrams, a process that stood still.
///
/// Used by the sender's thread.
final class SourceNotices {
    private final String name;
    private final SenderMachine machine;
    private final UnreadyLines unready;
    private final ForeignTraffic foreign;
    private final StallWatch stalls;
    private final Consumer<String> notices;
    private long standstillNoticeNs;

    SourceNotices(
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
        stalls = new StallWatch(
                channel.name(), TimeUnit.MILLISECONDS.toNanos(channel.stream().aliveTimeoutMs()));
    }

    /// Subscribers that asked to join and are not ready.
    UnreadyLines unready() {
        return unready;
    }

    /// Ten times a second.
    void look(final long nowNs) {
        unready.look(nowNs);
        foreign.tick(nowNs);
        final String stall = stalls.look(
                machine.releasable(),
                machine.nextSequence(),
                machine.counts().get(SenderCount.REPAIRED_DATAGRAMS),
                nowNs);
        if (stall != null) {
            notices.accept(stall);
        }
    }

    /// In each cycle.
    ///
    /// @param stoodNs for how long the process stood still before; 0 for not
    void onStandstill(final long stoodNs, final long nowNs) {
        if (stoodNs > 0 && nowNs >= standstillNoticeNs) {
            standstillNoticeNs = nowNs + SessionContext.STANDSTILL_NOTICE_NS;
            notices.accept(name + ": " + DisconnectReason.standstill(stoodNs / 1_000_000) + "; asking its subscribers");
        }
    }
}
