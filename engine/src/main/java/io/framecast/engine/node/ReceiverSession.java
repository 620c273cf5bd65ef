package io.framecast.engine.node;

import io.framecast.api.StreamConfig;
import io.framecast.api.spi.Lane;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.sink.NicCounts;
import io.framecast.engine.sink.PayloadSink;
import io.framecast.reliability.GivenUp;
import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.ReceiverMachine.State;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// One subscription's part in one session: lanes, sink and protocol machine, and the frames between ring and
/// subscriber. Duty cycle in [#doWork], by the receiver's thread.
final class ReceiverSession implements AutoCloseable {
    /// Nobody acknowledges them, and any may be lost.
    static final int GOODBYES = 3;

    private final ReceiverMachine machine;
    private final PayloadSink sink;
    private final Lane data;
    private final Lane repair;
    private final Reaches reaches;
    private final @Nullable SourceReach reach;
    private final @Nullable SetReach setReach;
    private final @Nullable CoRootService serving;
    private final FrameExchange exchange;
    private final FrameHandover handover;
    private final CounterBoard counters;
    private boolean started;
    private long standstillNs;
    private long firstFrameId;
    // What was published before, since an earlier membership in this session; `Long.MAX_VALUE` without one.
    private long resumeFromId = Long.MAX_VALUE;

    /// Puts a session together; the lanes are open.
    ReceiverSession(
            final SessionParts parts,
            final SourceFeed feed,
            final PostedBuffers posted,
            final StreamConfig config,
            final CounterBoard counters) {
        machine = parts.machine();
        sink = parts.sink();
        data = parts.data();
        repair = parts.repair();
        reaches = parts.reaches();
        reach = reaches.source();
        setReach = reaches.set();
        serving = parts.serving();
        exchange = feed.exchange();
        handover = new FrameHandover(parts, feed, posted, config);
        this.counters = counters;
        counters.receives(data, "data")
                .receives(repair, "repair")
                .verdicts(machine.verdicts())
                .triggers(machine.counts())
                .add(EngineCounter.REPAIRS_RECEIVED, machine.counts()::repairedDatagrams)
                .add(EngineCounter.NACKS_SENT, machine.counts()::nacks)
                .add(EngineCounter.ACKS_SENT, machine.counts()::acks)
                .add(EngineCounter.SERVED_MEMBERS, machine.counts()::servedMembers)
                .add(EngineCounter.REPORTS_RECEIVED, machine.counts()::reportsTaken)
                .add(EngineCounter.MEMBER_LINKS, machine.counts()::memberLinks)
                .add(EngineCounter.SET_REPAIRS_SENT, machine.counts()::repairsSent)
                .add(EngineCounter.REASSEMBLED_BYTES, sink::mendedBytes)
                .add(EngineCounter.REPAIRS_REFUSED, sink::refusedRepairs)
                .add(EngineCounter.STORED_BYTES, sink::storedBytes);
        final NicCounts copies = sink.nicCounts();
        if (copies != null) {
            counters.copies(copies);
        }
        if (reach != null) {
            reach.count(counters, machine.counts());
        }
        if (setReach != null) {
            setReach.count(counters, machine.counts());
        }
    }

    ReceiverMachine machine() {
        return machine;
    }

    PayloadSink sink() {
        return sink;
    }

    /// Null where the transport cannot act on the source's memory.
    @Nullable
    SourceReach reach() {
        return reach;
    }

    /// Null where nothing is read of a co-root's memory.
    @Nullable
    SetReach setReach() {
        return setReach;
    }

    Lane dataLane() {
        return data;
    }

    Lane repairLane() {
        return repair;
    }

    /// Whether it became a member.
    boolean isStarted() {
        return started;
    }

    /// The first frame's number, once it became a member.
    long firstFrameId() {
        return firstFrameId;
    }

    /// Before it becomes a member: frames from this one on that were published before are reported lost.
    void resumeFrom(final long frameId) {
        resumeFromId = frameId;
    }

    /// The first frame that is given or reported lost, once it became a member.
    long firstReportedId() {
        return Math.min(resumeFromId, firstFrameId);
    }

    /// The first frame that was neither given nor reported lost, once everything was handed to the subscriber.
    long nextFrameId() {
        return Math.max(machine.nextFrameId(), machine.knownFrames());
    }

    /// Whether everything that will ever come was handed to the subscriber.
    boolean isEnded() {
        final boolean over = machine.state() == State.ENDED || machine.state() == State.LOST;
        return over && handover.isEmpty() && machine.nextFrameBytes() == 0;
    }

    /// When a timer is due.
    long nextDeadlineNs() {
        return machine.nextDeadlineNs();
    }

    /// Whether it waits for the device, or for room at the subscriber.
    boolean mustLook() {
        return handover.mustLook()
                || sink.isCopying()
                || (reach != null && reach.isBusy())
                || (setReach != null && setReach.isBusy());
    }

    /// The machine gave frames up.
    ///
    /// @return sequences below this have a slot now
    long onGivenUp(final GivenUp givenUp) {
        return handover.onGivenUp(givenUp);
    }

    /// How long this process stood still before the last duty cycle; 0 where it did not.
    long standstillNs() {
        return standstillNs;
    }

    /// One duty cycle.
    int doWork(final long nowNs) {
        standstillNs = machine.onCycle(nowNs);
        if (!started && machine.state() == State.RECEIVING) {
            started = true;
            firstFrameId = machine.nextFrameId();
            handover.start(firstReportedId());
        }
        int work = started ? handover.takeBack(nowNs) : 0;
        if (reach != null) {
            work += reach.doWork(machine, nowNs);
        }
        if (setReach != null) {
            work += setReach.doWork(machine, nowNs);
        }
        work += sink.poll(machine, nowNs);
        if (started) {
            work += handover.deliver(nowNs);
        }
        if (machine.nextDeadlineNs() <= nowNs) {
            work += machine.onTick(nowNs);
        }
        counters.tick(nowNs);
        return work;
    }

    /// Whether memory is still in the subscriber's hands.
    boolean isHeld() {
        return handover.isHeld();
    }

    /// Slots that are not free for what comes next.
    long heldSlots() {
        return handover.heldSlots();
    }

    /// Takes back what was released, after [#leave].
    int settle(final long nowNs) {
        return handover.takeBack(nowNs);
    }

    /// Takes back what was released, and what was delivered and never polled, after the subscriber closed.
    void drain() {
        handover.drain();
    }

    /// Says goodbye and closes the lanes; frames stay readable.
    void leave() {
        CloseHelper.closeAll(
                this::sayGoodbye, counters::publish, counters, this::serveNobody, reaches, sink::detach, repair, data);
    }

    private void serveNobody() {
        if (serving != null) {
            serving.closeLane();
        }
    }

    private void sayGoodbye() {
        for (int i = 0; i < GOODBYES; i++) {
            machine.leave();
        }
    }

    /// Frees the memory.
    @Override
    public void close() {
        CloseHelper.closeAll(serving, sink, exchange::close);
    }
}
