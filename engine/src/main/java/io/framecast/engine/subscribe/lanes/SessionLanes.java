package io.framecast.engine.subscribe.lanes;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.port.ReceiveLane;
import io.framecast.engine.port.TransportOneSided;
import io.framecast.engine.ready.ReadySet;
import io.framecast.engine.session.CounterBoard;
import io.framecast.engine.sink.ReceiveMemory;
import io.framecast.engine.sink.ReceiveRings;
import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.assembly.MemoryShape;
import io.framecast.reliability.assembly.RepairSlots;
import io.framecast.reliability.count.Export;
import io.framecast.reliability.lane.LanePort;
import io.framecast.reliability.lane.SendLanePort;
import io.framecast.reliability.onesided.OneSidedPort;
import io.framecast.reliability.onesided.ReadCount;
import io.framecast.reliability.onesided.RemoteWindows;
import io.framecast.reliability.receive.CoRootOutput;
import io.framecast.reliability.receive.CoRootOutput.Filler;
import io.framecast.reliability.receive.ReceiverCount;
import io.framecast.reliability.receive.ReceiverOutput;
import io.framecast.reliability.receive.RemoteMemory;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// One session's lanes and peers: its own lanes for data and repairs, the source and the co-root on the
/// subscription's control lane, one-sided access to the memory of both, and its own service as a co-root.
///
/// Threading: the conductor opens it, then the receiver's thread uses it; the conductor calls [#close].
public final class SessionLanes implements ReceiverOutput, AutoCloseable {
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
    /// @param lanes the subscription's
    /// @param memory of this shape, the caller's
    /// @param receiverId in this session
    /// @param serves whether the session may serve others as a co-root
    public SessionLanes(
            final SubscriptionLanes lanes,
            final MemoryShape shape,
            final ReceiveMemory memory,
            final long receiverId,
            final boolean serves) {
        control = lanes.control();
        this.receiverId = receiverId;
        this.memory = memory;
        final Transport transport = lanes.transport();
        final StreamInfo stream = shape.stream();
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            final ReceiveRings rings = memory.rings();
            data = opened.add(
                    transport.open(lane(LaneKind.DATA, rings.dataRing(), new LaneAddress(stream.dataAddress()))));
            repair = opened.add(transport.open(lane(LaneKind.REPAIR, rings.repairRing(), null)));
            requireOneHost(transport);
            final TransportCapabilities.Placement placement =
                    transport.capabilities().placement();
            dataPort = new ReceiveLane(data, placement, shape.batchMax(), lanes.loss(), memory::posted);
            repairPort = new ReceiveLane(repair, placement, RepairSlots.BATCH_MAX, lanes.loss(), memory::posted);
            repairs = new RepairSlots(shape, memory);
            final OneSidedPort oneSided = TransportOneSided.of(transport.oneSided(), lanes.conductor());
            windows = oneSided == null
                    ? null
                    : opened.add(new RemoteWindows(oneSided, stream, repairs.reads(), lanes.notices()));
            // Where payloads do not land in host memory the source alone fills a replica there, over the member's
            // connection.
            final Filler filler = memory.data().hostAddressable() ? Filler.RECEIVER : Filler.SOURCE;
            service = !serves || (filler == Filler.SOURCE && oneSided == null)
                    ? null
                    : opened.add(new CoRootService(lanes, oneSided, receiverId, stream, repairs.reads(), filler));
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
    public int prepare(final Assembly assembly) {
        return Math.min(data.receiveCapacity(), assembly.prepare(dataPort));
    }

    public LanePort dataPort() {
        return dataPort;
    }

    public LanePort repairPort() {
        return repairPort;
    }

    public RepairSlots repairs() {
        return repairs;
    }

    public Lane repairLane() {
        return repair;
    }

    /// Access to the memory of source and co-root; null where the transport has no one-sided operations.
    public @Nullable RemoteWindows windows() {
        return windows;
    }

    /// The service as a co-root; null where the session serves nobody.
    public @Nullable CoRootOutput service() {
        return service;
    }

    /// The addresses at which the source reaches this receiver.
    public LaneAddresses addresses() {
        return new LaneAddresses(
                control.address().toBytes(),
                repair.address().toBytes(),
                windows == null ? new byte[0] : windows.descriptor());
    }

    /// Adds the counters of the lanes.
    public void count(final CounterBoard counters) {
        counters.receives(data, "data").receives(repair, "repair");
    }

    /// Adds the counters of one-sided operations.
    ///
    /// @param counts the session's
    public void countOneSided(final CounterBoard counters, final Counts<ReceiverCount> counts) {
        if (windows != null) {
            counters.counts(counts, ReceiverCount::export, Export.Scope.ONE_SIDED)
                    .counts(windows.sourceReads(), ReadCount::ofSource, Export.Scope.ONE_SIDED)
                    .counts(counts, ReceiverCount::export, Export.Scope.ONE_SIDED_CO_ROOT)
                    .counts(windows.coRootReads(), ReadCount::ofCoRoot, Export.Scope.ONE_SIDED);
        }
    }

    /// Makes the source reachable.
    ///
    /// @throws TransportException where the source announces an address that this transport cannot use
    public void connect(final StreamInfo stream) {
        sourcePeer = control.lane().connect(new LaneAddress(stream.controlAddress()));
    }

    /// Whether [#connect] made the source reachable, and [#disconnect] was not called since.
    public boolean isConnected() {
        return sourcePeer != NO_PEER;
    }

    /// The descriptors that wake the agent when data arrives.
    public void collectDescriptors(final IntConsumer descriptors) {
        if (!left) {
            descriptors.accept(data.readyDescriptor());
            descriptors.accept(repair.readyDescriptor());
        }
    }

    /// Whether each of the session's lanes has a descriptor of its own.
    public boolean isPollable() {
        return left || (data.readyDescriptor() != ReadySet.NONE && repair.readyDescriptor() != ReadySet.NONE);
    }

    /// Arms the lanes' wake-ups before the agent sleeps.
    public void arm() {
        if (!left) {
            data.armReady();
            repair.armReady();
        }
    }

    /// Whether the lanes are closed.
    public boolean hasLeft() {
        return left;
    }

    /// Closes the lanes, and ends all access to memory of peers and by peers. Idempotent.
    public void leave() {
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
    public void disconnect() {
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
