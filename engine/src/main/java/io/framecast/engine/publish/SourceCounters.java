package io.framecast.engine.publish;

import io.framecast.api.Channel;
import io.framecast.engine.metrics.CounterTable;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.metrics.Labels;
import io.framecast.engine.session.CounterBoard;
import io.framecast.reliability.count.Export;
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
            final PublisherProtection protection,
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
        protection.count(board);
        board.registrations(lanes.transport())
                .counts(machine.counts(), SenderCount::export, Export.Scope.SESSION)
                .add(EngineCounter.MEMBERS_READY, readyMembers)
                .add(EngineCounter.ROUND_TRIP, machine::rttNs)
                .add(
                        EngineCounter.CREDIT_REMAINING,
                        () -> machine.readyMembers() == 0 ? 0 : machine.grantedSequence() - machine.nextSequence())
                .add(EngineCounter.WINDOW_USED, () -> (window.committed() - window.freed()) * slotBytes);
        if (lanes.isOneSided()) {
            board.counts(machine.counts(), SenderCount::export, Export.Scope.ONE_SIDED);
        }
        return board;
    }
}
