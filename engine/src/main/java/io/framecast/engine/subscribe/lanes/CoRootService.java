package io.framecast.engine.subscribe.lanes;

import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.Transport;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.memory.SystemMemory;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.port.SendLane;
import io.framecast.engine.session.MemoryNeeds;
import io.framecast.engine.session.SendMemory;
import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.onesided.OneSidedPort;
import io.framecast.reliability.onesided.ReplicaMemory;
import io.framecast.reliability.receive.CoRootOutput;
import io.framecast.reliability.receive.RemoteMemory;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.RepairGroupLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// The service of a co-root to its repair group: a replica of the window in host memory, and a lane of its own
/// for repairs. The service allocates both only once the source has made this subscription a co-root. A failure
/// ends the service alone: the repair group then has its repairs from the source.
///
/// Threading: the receiver's thread, except for [#close] and for the work of the conductor, which takes time in
/// proportion to the window. Ownership: the service owns memory and lane until [#close].
final class CoRootService implements CoRootOutput, AutoCloseable {
    private static final int NO_PEER = SendLane.NO_PEER;

    private final Transport transport;
    private final ControlLane control;
    private final Consumer<String> notices;
    private final Executor conductor;
    private final @Nullable OneSidedPort oneSided;
    private final long receiverId;
    private final StreamInfo stream;
    private final @Nullable ReadSlots receiveBuffers;
    private final Filler filler;
    private final int[] controlPeers = new int[RepairGroupLayout.MEMBERS_MAX];
    private final int[] repairPeers = new int[RepairGroupLayout.MEMBERS_MAX];
    // Set by the conductor once it exists.
    private volatile @Nullable Made made;
    private @Nullable SendLane repair;
    private @Nullable RepairStore store;
    private ReplicaAccess access = ReplicaAccess.NONE;
    // Set by the conductor where the source replicates by RDMA writes.
    private volatile @Nullable ReplicaMemory replica;
    private boolean asked;
    private boolean askedForReplica;
    private volatile boolean closed;

    /// Memory, lane and store, opened by the conductor.
    ///
    /// @param access of other hosts to the memory
    private record Made(SendMemory memory, Lane repair, RepairStore store, ReplicaAccess access) {}

    /// @param lanes whose conductor runs all its tasks before [#close]
    /// @param receiverId of this session
    /// @param receiveBuffers for repairs that this session reads out of its own replica; null for none
    /// @param filler the source alone where payloads land where the host cannot read them
    CoRootService(
            final SubscriptionLanes lanes,
            final @Nullable OneSidedPort oneSided,
            final long receiverId,
            final StreamInfo stream,
            final @Nullable ReadSlots receiveBuffers,
            final Filler filler) {
        transport = lanes.transport();
        control = lanes.control();
        notices = lanes.notices();
        conductor = lanes.conductor();
        this.oneSided = oneSided;
        this.receiverId = receiverId;
        this.stream = stream;
        this.receiveBuffers = receiveBuffers;
        this.filler = filler;
        java.util.Arrays.fill(controlPeers, NO_PEER);
        java.util.Arrays.fill(repairPeers, NO_PEER);
    }

    @Override
    public Filler filler() {
        return filler;
    }

    /// Null also while the conductor still opens the store: the source repeats its request until it is
    /// confirmed.
    @Override
    public @Nullable RepairStore openStore() {
        final Made ready = made;
        if (ready != null && store == null && !closed) {
            repair = new SendLane(ready.repair());
            access = ready.access();
            store = ready.store();
        } else if (!asked && !closed) {
            asked = true;
            conductor.execute(this::make);
        }
        return store;
    }

    private void make() {
        try {
            made = closed ? null : open();
        } catch (final OutOfMemoryError | RuntimeException e) {
            notices.accept("subscriber of " + stream.channel() + ": cannot serve others as a co-root: " + e.getMessage()
                    + "; free memory, or set serve=no");
        }
    }

    private Made open() {
        final int slots = stream.windowSlots();
        SystemMemory.require(MemoryNeeds.source(slots, stream.slotBytes(), stream.headerBytes(), 0)
                .totalBytes());
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            final SendMemory memory =
                    opened.add(new SendMemory(slots, stream.slotBytes(), stream.headerBytes(), false, false, false));
            final RepairStore empty = new RepairStore(memory.window());
            // Before the lane opens: the lane's registration then lies within the memory that members may read.
            final ReplicaAccess exposed = opened.add(ReplicaAccess.of(oneSided, memory.window(), stream, notices));
            exposed.guard(empty);
            final Lane lane = opened.add(transport.open(
                    new LaneConfig(LaneKind.REPAIR, LaneConfig.Role.RECEIVER, memory.ring(), null, null)));
            opened.keep();
            return new Made(memory, lane, empty, exposed);
        }
    }

    @Override
    public boolean connect(final int member, final LaneAddresses addresses) {
        final SendLane lane = repair;
        // The source has proven the control address alone.
        if (lane == null || closed || !control.isOneHost(addresses)) {
            return false;
        }
        controlPeers[member] = control.connect(addresses.control());
        repairPeers[member] = lane.connect(addresses.repair());
        if (controlPeers[member] != NO_PEER && repairPeers[member] != NO_PEER) {
            return true;
        }
        disconnect(member);
        return false;
    }

    @Override
    public void disconnect(final int member) {
        if (controlPeers[member] != NO_PEER && !closed) {
            control.disconnect(controlPeers[member]);
        }
        final SendLane lane = repair;
        if (repairPeers[member] != NO_PEER && lane != null && !closed) {
            lane.disconnect(repairPeers[member]);
        }
        controlPeers[member] = NO_PEER;
        repairPeers[member] = NO_PEER;
        cut(member);
    }

    private void cut(final int member) {
        if (!closed) {
            access.cut(member);
        }
    }

    @Override
    public boolean link(final int member, final byte[] descriptor) {
        cut(member);
        return !closed && access.accept(member, descriptor);
    }

    @Override
    public @Nullable EndpointOffer endpointOffer(final int member) {
        return closed ? null : access.offer(member);
    }

    @Override
    public @Nullable EndpointOffer replicaOffer() {
        final ReplicaMemory memory = replica;
        if (memory == null && !askedForReplica && !closed) {
            askedForReplica = true;
            conductor.execute(this::makeReplica);
        }
        return memory == null || closed ? null : memory.offer();
    }

    // On the conductor, because a registration takes time in proportion to the window.
    private void makeReplica() {
        final Made ready = made;
        if (ready == null || closed) {
            return;
        }
        try {
            replica = ready.access().replica();
        } catch (final OutOfMemoryError | RuntimeException e) {
            notices.accept("subscriber of " + stream.channel() + ": gets its replica by datagram: " + e.getMessage());
        }
    }

    @Override
    public long feedWord() {
        final ReplicaMemory memory = replica;
        return memory == null ? 0 : memory.word();
    }

    @Override
    public int copyOwn(final long firstSequence, final int count) {
        final ReadSlots slots = receiveBuffers;
        final RepairStore held = store;
        return slots == null || held == null ? RemoteMemory.NOT_READ : slots.copy(held, firstSequence, count);
    }

    @Override
    public void sendControl(final int member, final int bytes) {
        if (controlPeers[member] != NO_PEER) {
            control.unicastToMember(controlPeers[member], bytes, receiverId);
        }
    }

    @Override
    public int repair(final int member, final long firstSequence, final int count) {
        final SendLane lane = repair;
        final RepairStore held = store;
        if (lane == null || held == null || repairPeers[member] == NO_PEER) {
            return 0;
        }
        final int slot = held.slot(firstSequence);
        // The ring has one slot more than the window, which repairs must skip.
        final int head = Math.min(count, held.slots() - slot);
        try {
            final int accepted = lane.unicast(repairPeers[member], slot, head);
            return accepted < head || head == count
                    ? accepted
                    : accepted + lane.unicast(repairPeers[member], 0, count - head);
        } catch (final RuntimeException e) {
            // The subscription goes on receiving. The lane is closed with the service.
            repair = null;
            notices.accept(
                    "subscriber of " + stream.channel() + ": repairs nothing for others any more: " + e.getMessage());
            return 0;
        }
    }

    /// Closes the lane and ends all answers. The store stays readable.
    void closeLane() {
        for (int member = 0; member < controlPeers.length; member++) {
            disconnect(member);
        }
        closed = true;
        final Made ready = made;
        if (ready != null && repair != null) {
            CloseHelper.close(ready.repair());
        }
    }

    /// Idempotent.
    @Override
    public void close() {
        closed = true;
        final Made ready = made;
        made = null;
        if (ready != null) {
            CloseHelper.closeAll(replica, ready.access(), ready.repair(), ready.memory());
        }
    }
}
