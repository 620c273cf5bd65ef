package io.framecast.engine.publish;

import io.framecast.api.Channel;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.Transport;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.ready.ReadySet;
import io.framecast.engine.session.Failures;
import io.framecast.engine.session.SendMemory;
import io.framecast.engine.session.SessionAgent;
import io.framecast.engine.session.SessionContext;
import io.framecast.reliability.flow.Interval;
import io.framecast.reliability.send.SenderMachine;
import io.framecast.reliability.session.SendSession;
import io.framecast.reliability.window.SendWindow;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;
import java.util.function.LongToIntFunction;
import java.util.random.RandomGenerator;
import org.agrona.CloseHelper;

/// One source: the duty cycle of its [SourceParts] on the sender's thread, and its end.
public final class SourceSession implements SessionAgent.Member, AutoCloseable {
    private static final long LOOK_NS = 100_000_000;

    private final SourceParts parts;
    private final SendSession session;
    private final SenderMachine machine;
    private final SourceStatus status;
    private final Lane control;
    private final ControlLane.Handler onControl = this::onControl;
    private final LongToIntFunction cycle = this::runCycle;
    private final Interval looking = new Interval(LOOK_NS);
    // Publisher's and conductor's threads, one after the other.
    private boolean lanesClosed;
    // An exception ended the duty cycle.
    private boolean broken;

    /// Opens lanes and memory, and owns the transport from then on. When the constructor throws, it closes
    /// everything it opened, and the transport is still the caller's.
    ///
    /// @param sharing whether subscribers on this host may read the window
    /// @param secrets gives the session's nonce, and what proves its members' addresses
    public SourceSession(
            final Transport transport,
            final Channel channel,
            final SessionContext context,
            final WindowSharing sharing,
            final RandomGenerator secrets) {
        parts = SourceParts.open(transport, channel, context, sharing, secrets);
        session = parts.session();
        machine = parts.machine();
        status = parts.status();
        control = parts.lanes().control().lane();
    }

    SourceParts parts() {
        return parts;
    }

    public SendWindow window() {
        return parts.window();
    }

    public SendMemory memory() {
        return parts.memory();
    }

    public StreamInfo stream() {
        return parts.stream();
    }

    public SenderMachine machine() {
        return machine;
    }

    @Override
    public String name() {
        return parts.name();
    }

    @Override
    public int readyDescriptor() {
        return parts.transport().readyDescriptor();
    }

    @Override
    public boolean mustPoll() {
        return !broken && (!isPollable() || session.isHeldBack());
    }

    // Whether a descriptor becomes ready when datagrams of peers arrive.
    private boolean isPollable() {
        return readyDescriptor() != ReadySet.NONE || control.readyDescriptor() != ReadySet.NONE;
    }

    @Override
    public void arm() {
        if (!broken) {
            control.armReady();
        }
    }

    @Override
    public void collectDescriptors(final IntConsumer descriptors) {
        if (!broken) {
            descriptors.accept(control.readyDescriptor());
        }
    }

    @Override
    public long nextDeadlineNs() {
        return broken ? Long.MAX_VALUE : Math.min(parts.protection().nextDeadlineNs(), session.nextDeadlineNs());
    }

    @Override
    public int doWork(final long nowNs) {
        return parts.readers().exclusively(cycle, nowNs);
    }

    private int runCycle(final long nowNs) {
        if (broken) {
            return 0;
        }
        int work = parts.lanes().control().poll(onControl, nowNs);
        work += parts.protection().doWork(nowNs);
        if (status.isEnding()) {
            session.end();
        }
        final int refusedSlots = parts.writer().refusedSlots();
        session.onClaimBlocked(refusedSlots > 0 && !status.hasRoom(refusedSlots));
        work += session.doWork(nowNs);
        parts.notices().onStandstill(session.standstillNs(), nowNs);
        if (status.networkMembers() != machine.readyMembers()) {
            parts.members().look();
        }
        status.onMembers(machine.readyMembers(), machine.readySubscribers());
        status.wakeWhereRoom();
        parts.counters().tick(work, nowNs);
        if (looking.take(nowNs)) {
            look(nowNs);
        }
        status.onCycle(session.isDrained(), session.isSettled());
        return work;
    }

    private void look(final long nowNs) {
        parts.notices().look(nowNs);
        parts.members().look();
        parts.protection().noticeStrangers(nowNs);
        parts.readers().look(status.isBlocked(parts.writer().refusedSlots()), nowNs);
    }

    private void onControl(final MemorySegment datagram, final long offset, final int bytes, final long nowNs) {
        machine.onControl(datagram, offset, bytes, nowNs);
    }

    /// A lane failed: the session can send nothing any more.
    @Override
    public void fail(final String reason) {
        broken = true;
        parts.readers().stop();
        status.fail(reason);
    }

    /// Sender's thread, outside the duty cycle: sends end of stream once more, then closes the lanes.
    /// [#close] follows.
    public void finish(final long nowNs) {
        try {
            if (status.failure() == null) {
                doWork(nowNs);
            }
        } catch (final RuntimeException e) {
            fail(Failures.line(name(), e));
        } finally {
            closeLanes();
        }
    }

    /// Frees everything, whatever state the lanes are in.
    @Override
    public void close() {
        CloseHelper.closeAll(this::closeLanes, parts);
    }

    // Members hear of it when the session ends early.
    private void closeLanes() {
        if (!lanesClosed) {
            lanesClosed = true;
            parts.closeLanes(this::sayGoodbye);
        }
    }

    private void sayGoodbye() {
        parts.counters().publish();
        for (int i = 0; i < SessionContext.GOODBYES && !status.isDrained() && !broken; i++) {
            session.leave();
        }
    }
}
