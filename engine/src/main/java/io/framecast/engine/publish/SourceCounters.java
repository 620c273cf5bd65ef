package io.framecast.engine.publish;

import io.framecast.api.Channel;
import io.framecast.engine.metrics.CounterTable;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.metrics.Labels;
import io.framecast.engine.session.CounterBoard;
import io.framecast.reliability.send.SenderCount;
import io.framecast.reliability.send.SenderMachine;
import io.framecast.reliability.session.SendSession;
import io.framecast.reliability.window.SendWindow;
import java.util.function.LongSupplier;

/// The counters of a source: of its lanes and its machine. Its publisher adds its own.
final class SourceCounters {
    private SourceCounters() {}

    /// @param readyMembers with those that read the window on this host
    static CounterBoard of(
            final Channel channel,
            final SourceLanes lanes,
            final SendSession session,
            final StreamSecurity security,
            final CounterTable table,
            final LongSupplier readyMembers) {
        final SenderMachine machine = session.machine();
        final SendWindow window = session.window();
        final int slotBytes = session.stream().slotBytes();
        final CounterBoard board = new CounterBoard(
                        table, Labels.of("channel", session.stream().channel()))
                .stream("publisher", channel.transport())
                        .sends(lanes.data(), "data")
                        .sends(lanes.repair(), "repair")
                        .sends(lanes.control().lane(), "control")
                        .receives(lanes.control().lane(), "control")
                        .verdicts(machine.verdicts());
        security.countOn(board);
        board.registrations(lanes.transport())
                .add(EngineCounter.REPAIRS_SENT, machine.counts().of(SenderCount.REPAIRED_DATAGRAMS))
                .add(EngineCounter.REPAIRS_LIMITED, machine.counts().of(SenderCount.LIMITED_REPAIRS))
                .add(EngineCounter.NACKS_RECEIVED, machine.counts().of(SenderCount.NACKS))
                .add(EngineCounter.ACKS_RECEIVED, machine.counts().of(SenderCount.ACKS))
                .add(EngineCounter.HEARTBEATS_SENT, machine.counts().of(SenderCount.HEARTBEATS))
                .add(EngineCounter.CO_ROOTS, machine.counts().of(SenderCount.CO_ROOTS))
                .add(EngineCounter.AGGREGATES_RECEIVED, machine.counts().of(SenderCount.AGGREGATES))
                .add(EngineCounter.FAILOVERS, machine.counts().of(SenderCount.FAILOVERS))
                .add(EngineCounter.FEED_SENT, machine.counts().of(SenderCount.FED_DATAGRAMS))
                .add(EngineCounter.INSTRUCTIONS_SENT, machine.counts().of(SenderCount.INSTRUCTIONS))
                .add(EngineCounter.EVICTIONS, machine.counts().of(SenderCount.EVICTIONS))
                .add(EngineCounter.JOIN_REFUSALS, machine.counts().of(SenderCount.REFUSALS))
                .add(EngineCounter.MEMBERS_READY, readyMembers)
                .add(EngineCounter.ROUND_TRIP, machine::rttNs)
                .add(
                        EngineCounter.CREDIT_REMAINING,
                        () -> machine.readyMembers() == 0 ? 0 : machine.grantedSequence() - machine.nextSequence())
                .add(EngineCounter.WINDOW_USED, () -> (window.committed() - window.freed()) * slotBytes);
        if (lanes.isOneSided()) {
            board.add(EngineCounter.GRANTS_READ, machine.counts().of(SenderCount.CREDIT_WORDS))
                    .add(EngineCounter.CREDIT_DATAGRAMS, machine.counts().of(SenderCount.CREDIT_DATAGRAMS))
                    .add(EngineCounter.LINKED_MEMBERS, machine.counts().of(SenderCount.LINKS))
                    .add(EngineCounter.FEED_WRITTEN, machine.counts().of(SenderCount.WRITTEN_DATAGRAMS))
                    .fallback("feed", machine.counts().of(SenderCount.FEED_FAILURES))
                    .fallback("link", machine.counts().of(SenderCount.LINK_FAILURES))
                    .fallback("impossible_word", machine.counts().of(SenderCount.IMPOSSIBLE_WORDS));
        }
        return board;
    }
}
