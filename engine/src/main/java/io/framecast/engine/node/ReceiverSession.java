package io.framecast.engine.node;

import io.framecast.api.SourceOptions;
import io.framecast.api.StreamConfig;
import io.framecast.api.spi.Lane;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.sink.NicCounts;
import io.framecast.engine.sink.ReceiveMemory;
import io.framecast.reliability.ReceiverMachine;
import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.assembly.RepairSlots;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.receive.ReceiveSession;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// One subscription's part in one session: the protocol's [ReceiveSession] with the lanes and memory that it
/// runs over. Duty cycle in [#doWork], by the receiver's thread.
final class ReceiverSession implements AutoCloseable {
    /// Nobody acknowledges them, and any may be lost.
    static final int GOODBYES = 3;

    private final ReceiverMachine machine;
    private final ReceiveMemory memory;
    private final Lane data;
    private final Lane repair;
    private final Reaches reaches;
    private final @Nullable SourceReach reach;
    private final @Nullable SetReach setReach;
    private final @Nullable CoRootService serving;
    private final FrameExchange exchange;
    private final FrameHandoff handoff;
    private final ReceiveSession session;
    private final CounterBoard counters;

    /// Puts a session together; the lanes are open over the memory's rings.
    ///
    /// @param dataPort over the data lane, prepared by the assembly
    /// @param repairPort over the repair lane
    ReceiverSession(
            final ReceiverMachine machine,
            final ReceiveMemory memory,
            final Assembly assembly,
            final RepairSlots repairs,
            final Lane data,
            final LanePort dataPort,
            final Lane repair,
            final LanePort repairPort,
            final Reaches reaches,
            final @Nullable CoRootService serving,
            final SourceFeed feed,
            final PostedBuffers posted,
            final StreamConfig config,
            final CounterBoard counters) {
        this.machine = machine;
        this.memory = memory;
        this.data = data;
        this.repair = repair;
        this.reaches = reaches;
        this.serving = serving;
        this.counters = counters;
        reach = reaches.source();
        setReach = reaches.set();
        exchange = feed.exchange();
        handoff = new FrameHandoff(feed, posted, memory, assembly);
        session = new ReceiveSession(
                machine,
                assembly,
                repairs,
                dataPort,
                repairPort,
                handoff,
                Policies.onWire(config.delivery()),
                config.sources().joinAt() == SourceOptions.JoinAt.KEYFRAME);
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
                .add(EngineCounter.REASSEMBLED_BYTES, assembly::reassembledBytes)
                .add(EngineCounter.REPAIRS_REFUSED, assembly::refusedRepairs)
                .add(EngineCounter.STORED_BYTES, memory::storedBytes);
        final NicCounts copies = memory.nicCounts();
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

    /// The protocol's part.
    ReceiveSession session() {
        return session;
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

    /// Whether it waits for the device, or for room at the subscriber.
    boolean mustLook() {
        return handoff.isDraining()
                || session.isWaiting()
                || memory.isBusy()
                || (reach != null && reach.isBusy())
                || (setReach != null && setReach.isBusy());
    }

    /// One duty cycle.
    int doWork(final long nowNs) {
        int work = 0;
        if (reach != null) {
            work += reach.doWork(machine, nowNs);
        }
        if (setReach != null) {
            work += setReach.doWork(machine, nowNs);
        }
        work += session.doWork(nowNs);
        counters.tick(nowNs);
        return work;
    }

    /// Takes back what was released, after [#leave].
    int settle(final long nowNs) {
        return session.takeBack(nowNs);
    }

    /// Takes back what was released, and what was delivered and never polled, after the subscriber closed.
    void drain() {
        session.drain();
    }

    /// Says goodbye and closes the lanes; frames stay readable.
    void leave() {
        CloseHelper.closeAll(
                this::sayGoodbye,
                counters::publish,
                counters,
                this::serveNobody,
                reaches,
                memory::detach,
                repair,
                data);
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
        CloseHelper.closeAll(serving, memory, exchange::close);
    }
}
