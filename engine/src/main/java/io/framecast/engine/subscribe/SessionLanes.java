package io.framecast.engine.subscribe;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.metrics.EngineCounter;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.port.LossInjector;
import io.framecast.engine.port.ReceiveLane;
import io.framecast.engine.port.TransportOneSided;
import io.framecast.engine.ready.ReadySet;
import io.framecast.engine.session.CounterBoard;
import io.framecast.engine.sink.ReceiveMemory;
import io.framecast.engine.sink.ReceiveRings;
import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.assembly.RepairSlots;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.lane.SendLanePort;
import io.framecast.reliability.onesided.OneSidedPort;
import io.framecast.reliability.onesided.ReadCount;
import io.framecast.reliability.onesided.RemoteWindows;
import io.framecast.reliability.receive.ReceiverCount;
import io.framecast.reliability.receive.ReceiverOutput;
import io.framecast.reliability.receive.RemoteMemory;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// One session's lanes and peers: its own lanes for data and repairs, the source and the co-root on the
/// subscription's control lane, one-sided access to the memory of both, and its own service as a co-root.
///
/// Threading: the conductor opens it, then the receiver's thread uses it; the conductor calls [#close].
final class SessionLanes implements ReceiverOutput, AutoCloseable {
    private static final int NO_PEER = SendLanePort.NO_PEER;

    private final ControlLane control;
    private final long receiverId;
    private final ReceiveMemory memory;
    private final Lane data;
    private final Lane repair;
    private final LanePort dataPort;
    private final LanePort repairPort;
    private final RepairSlots repairs;
    private final @Nullable RemoteWindows windows;
    // A co-root keeps payloads in host memory, which direct placement bypasses.
    private final @Nullable CoRootService service;
    private int sourcePeer = NO_PEER;
    private int coRootPeer = NO_PEER;
    private boolean left;

    /// Opens the lanes of a session; nothing is sent.
    ///
    /// @param control the subscription's
    /// @param loss injected into the data and repair lanes
    /// @param memory of this shape, the caller's
    /// @param receiverId in this session
    /// @param serves whether the session may serve others as a co-root
    /// @param conductor runs long tasks in order
    SessionLanes(
            final Transport transport,
            final ControlLane control,
            final LossInjector loss,
            final MemoryShape shape,
            final ReceiveMemory memory,
            final long receiverId,
            final boolean serves,
            final Consumer<String> notices,
            final Executor conductor) {
        this.control = control;
        this.receiverId = receiverId;
        this.memory = memory;
        final StreamInfo stream = shape.stream();
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            final ReceiveRings rings = memory.rings();
            data = opened.add(
                    transport.open(lane(LaneKind.DATA, rings.dataRing(), new LaneAddress(stream.dataAddress()))));
            repair = opened.add(transport.open(lane(LaneKind.REPAIR, rings.repairRing(), null)));
            requireOneHost(transport);
            final TransportCapabilities.Placement placement =
                    transport.capabilities().placement();
            dataPort = new ReceiveLane(data, placement, shape.batchMax(), loss, memory::posted);
            repairPort = new ReceiveLane(repair, placement, RepairSlots.BATCH_MAX, loss, memory::posted);
            repairs = new RepairSlots(shape, memory);
            final OneSidedPort oneSided = TransportOneSided.of(transport.oneSided(), conductor);
            windows =
                    oneSided == null ? null : opened.add(new RemoteWindows(oneSided, stream, repairs.reads(), notices));
            // Where payloads do not land in host memory the source alone fills a replica there, over the member's
            // connection.
            final boolean fedOnly = !memory.data().hostAddressable();
            service = !serves || (fedOnly && oneSided == null)
                    ? null
                    : opened.add(new CoRootService(
                            transport,
                            oneSided,
                            control,
                            receiverId,
                            stream,
                            repairs.reads(),
                            fedOnly,
                            notices,
                            conductor));
            opened.keep();
        }
    }

    private static LaneConfig lane(final LaneKind kind, final ReceiveRing ring, final @Nullable LaneAddress peer) {
        return new LaneConfig(kind, LaneConfig.Role.RECEIVER, null, ring, peer);
    }

    // Its source refuses any other.
    private void requireOneHost(final Transport transport) {
        if (!transport.isOneHost(control.address(), repair.address())) {
            throw new TransportException(
                    "transport "
                            + transport.capabilities().name()
                            + ": its control and repair lanes are not of one host; its Transport.isOneHost must know its addresses");
        }
    }

    /// Posts the slots that the data lane should hold before its first poll.
    ///
    /// @return datagrams that may be under way to the data lane
    int prepare(final Assembly assembly) {
        return Math.min(data.receiveCapacity(), assembly.prepare(dataPort));
    }

    LanePort dataPort() {
        return dataPort;
    }

    LanePort repairPort() {
        return repairPort;
    }

    RepairSlots repairs() {
        return repairs;
    }

    Lane repairLane() {
        return repair;
    }

    /// Access to the memory of source and co-root; null where the transport has no one-sided operations.
    @Nullable
    RemoteWindows windows() {
        return windows;
    }

    /// The service as a co-root; null where the session serves nobody.
    @Nullable
    CoRootService service() {
        return service;
    }

    /// The addresses at which the source reaches this receiver.
    LaneAddresses addresses() {
        return new LaneAddresses(
                control.address().toBytes(),
                repair.address().toBytes(),
                windows == null ? new byte[0] : windows.descriptor());
    }

    /// Adds the counters of the lanes.
    void count(final CounterBoard counters) {
        counters.receives(data, "data").receives(repair, "repair");
    }

    /// Adds the counters of one-sided operations.
    ///
    /// @param counts the session's
    void countOneSided(final CounterBoard counters, final Counts<ReceiverCount> counts) {
        if (windows != null) {
            counters.add(EngineCounter.GRANTS_WRITTEN, counts.of(ReceiverCount.GRANTS_WRITTEN))
                    .add(EngineCounter.FEED_TAKEN, counts.of(ReceiverCount.FED_DATAGRAMS))
                    .add(EngineCounter.OWN_REPAIRS, counts.of(ReceiverCount.OWN_REPAIRS))
                    .add(EngineCounter.DATAGRAMS_PULLED, windows.sourceReads().of(ReadCount.ARRIVED))
                    .add(
                            EngineCounter.DATAGRAMS_PULLED_SET,
                            windows.coRootReads().of(ReadCount.ARRIVED))
                    .fallback("feed", counts.of(ReceiverCount.FEED_FAILURES))
                    .fallback("vain_feed", counts.of(ReceiverCount.VAIN_FEEDS))
                    .fallback("late_feed", counts.of(ReceiverCount.LATE_FEEDS))
                    .fallback("link", counts.of(ReceiverCount.LINK_FAILURES))
                    .fallback("slow_grant", counts.of(ReceiverCount.SLOW_WRITES))
                    .fallback("overdue_pull", counts.of(ReceiverCount.OVERDUE_PULLS))
                    .fallback("slow_pull", windows.sourceReads().of(ReadCount.SLOW))
                    .fallback("stale_pull", windows.sourceReads().of(ReadCount.STALE))
                    .fallback("set_link", counts.of(ReceiverCount.CO_ROOT_CONNECTION_FAILURES))
                    .fallback("slow_set_pull", windows.coRootReads().of(ReadCount.SLOW))
                    .fallback("stale_set_pull", windows.coRootReads().of(ReadCount.STALE));
        }
    }

    /// Makes the source reachable.
    ///
    /// @throws TransportException where the source announces an address that this transport cannot use
    void connect(final StreamInfo stream) {
        sourcePeer = control.lane().connect(new LaneAddress(stream.controlAddress()));
    }

    /// Whether [#connect] made the source reachable, and [#disconnect] was not called since.
    boolean isConnected() {
        return sourcePeer != NO_PEER;
    }

    /// The descriptors that wake the agent when data arrives.
    void collectDescriptors(final IntConsumer descriptors) {
        if (!left) {
            descriptors.accept(data.readyDescriptor());
            descriptors.accept(repair.readyDescriptor());
        }
    }

    /// Whether each of the session's lanes has a descriptor of its own.
    boolean isPollable() {
        return left || (data.readyDescriptor() != ReadySet.NONE && repair.readyDescriptor() != ReadySet.NONE);
    }

    /// Arms the lanes' wake-ups before the agent sleeps.
    void arm() {
        if (!left) {
            data.armReady();
            repair.armReady();
        }
    }

    /// Whether the lanes are closed.
    boolean hasLeft() {
        return left;
    }

    /// Closes the lanes, and ends all access to memory of peers and by peers. Idempotent.
    void leave() {
        if (!left) {
            left = true;
            CloseHelper.quietCloseAll(this::endService, windows, memory::detach, repair, data);
        }
    }

    private void endService() {
        if (service != null) {
            service.closeLane();
        }
    }

    /// Forgets source and co-root.
    void disconnect() {
        connectCoRoot(null);
        if (sourcePeer != NO_PEER) {
            control.disconnect(sourcePeer);
            sourcePeer = NO_PEER;
        }
    }

    @Override
    public MemorySegment control() {
        return control.slot();
    }

    @Override
    public long timeNs(final long nowNs) {
        return control.timeNs(nowNs);
    }

    @Override
    public void sendControl(final int bytes) {
        if (sourcePeer != NO_PEER) {
            control.unicast(sourcePeer, bytes);
        }
    }

    @Override
    public RemoteMemory remote() {
        return windows == null ? RemoteMemory.NONE : windows;
    }

    @Override
    public boolean connectCoRoot(final byte @Nullable [] controlAddress) {
        if (coRootPeer != NO_PEER) {
            control.disconnect(coRootPeer);
            coRootPeer = NO_PEER;
        }
        if (controlAddress == null) {
            return true;
        }
        coRootPeer = control.connect(controlAddress);
        return coRootPeer != NO_PEER;
    }

    @Override
    public void sendToCoRoot(final int bytes) {
        if (coRootPeer != NO_PEER) {
            control.unicastToMember(coRootPeer, bytes, receiverId);
        }
    }

    /// Frees the co-root's replica. Calls [#leave] first, where a session could not be opened.
    @Override
    public void close() {
        CloseHelper.closeAll(this::leave, service);
    }
}
