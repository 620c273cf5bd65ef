package io.framecast.engine.node;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.Transport;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.memory.SystemMemory;
import io.framecast.engine.port.ControlLane;
import io.framecast.reliability.CoRootOutput;
import io.framecast.reliability.ReceiverOutput;
import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.onesided.ExposedWindow;
import io.framecast.reliability.onesided.OneSidedPort;
import io.framecast.reliability.onesided.OneSidedPort.RefusedException;
import io.framecast.reliability.onesided.ReplicaMemory;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.LinkOffer;
import io.framecast.reliability.wire.RemotePlace;
import io.framecast.reliability.wire.SetLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// What a subscription does for others once its source has made it a co-root: a copy of the window in host
/// memory, taken only then, and a lane of its own for repairs. Whatever fails of it ends that service alone:
/// the set then has its repairs from the source.
///
/// Threading: the receiver's thread, but for what the conductor makes, which may take as long as the window
/// is large, and for [#close]. Ownership: owns memory and lane until [#close].
final class CoRootService implements CoRootOutput, AutoCloseable {
    private static final int NO_PEER = -1;

    private final Transport transport;
    private final @Nullable OneSidedPort oneSided;
    private final ControlLane control;
    private final StreamInfo stream;
    private final Consumer<String> notices;
    private final Executor conductor;
    private final @Nullable ReadSlots landing;
    private final int[] controlPeers = new int[SetLayout.MEMBERS_MAX];
    private final int[] repairPeers = new int[SetLayout.MEMBERS_MAX];
    // By the conductor, as soon as it is there.
    private volatile @Nullable Made made;
    private @Nullable Lane repair;
    private @Nullable RepairStore store;
    private @Nullable ExposedWindow share;
    // By the conductor, when the source feeds by writes.
    private volatile @Nullable ReplicaMemory fed;
    private boolean asked;
    private boolean askedToFeed;
    private volatile boolean closed;

    /// What the conductor makes.
    ///
    /// @param share what members of the set may read of it; null where the transport cannot
    private record Made(
            SendMemory memory,
            Lane repair,
            RepairStore store,
            @Nullable ExposedWindow share) {}

    /// @param landing where what it takes out of the copy for itself comes, as repairs do; null for nowhere
    /// @param conductor runs what may take long; in order, and before it runs [#close]
    CoRootService(
            final Transport transport,
            final @Nullable OneSidedPort oneSided,
            final ControlLane control,
            final StreamInfo stream,
            final @Nullable ReadSlots landing,
            final Consumer<String> notices,
            final Executor conductor) {
        this.transport = transport;
        this.oneSided = oneSided;
        this.control = control;
        this.stream = stream;
        this.landing = landing;
        this.notices = notices;
        this.conductor = conductor;
        java.util.Arrays.fill(controlPeers, NO_PEER);
        java.util.Arrays.fill(repairPeers, NO_PEER);
    }

    /// Null too while it is being made: the source tells the same again, until it is confirmed.
    @Override
    public @Nullable RepairStore openStore() {
        final Made ready = made;
        if (ready != null && store == null && !closed) {
            repair = ready.repair();
            share = ready.share();
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
                    + "; free memory, or say serve=no");
        }
    }

    private Made open() {
        final int slots = stream.windowSlots();
        SystemMemory.require(MemoryNeeds.source(slots, stream.slotBytes(), 0).totalBytes());
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            final SendMemory memory = opened.add(new SendMemory(slots, stream.slotBytes()));
            final RepairStore empty =
                    new RepairStore(memory.headers(), memory.payload(), memory.lengths(), slots, stream.slotBytes());
            // Before the lane: what that registers is then part of what members may read.
            final ExposedWindow shared = share(memory);
            if (shared != null) {
                empty.guardedBy(opened.add(shared).guards());
            }
            final Lane lane = opened.add(transport.open(
                    new LaneConfig(LaneKind.REPAIR, LaneConfig.Role.RECEIVER, memory.ring(), null, null)));
            opened.keep();
            return new Made(memory, lane, empty, shared);
        }
    }

    private @Nullable ExposedWindow share(final SendMemory memory) {
        if (oneSided == null) {
            return null;
        }
        final String refusal = "subscriber of " + stream.channel() + ": repairs for others by datagram: ";
        try {
            return ExposedWindow.ofReplica(oneSided, memory.window(), SetLayout.MEMBERS_MAX, refusal, notices);
        } catch (final RefusedException e) {
            notices.accept(refusal + e.getMessage());
            return null;
        }
    }

    @Override
    public boolean connect(final int member, final LaneAddresses addresses) {
        final Lane lane = repair;
        if (lane == null || closed) {
            return false;
        }
        try {
            controlPeers[member] = control.lane().connect(new LaneAddress(addresses.control()));
            repairPeers[member] = lane.connect(new LaneAddress(addresses.repair()));
            return true;
        } catch (final TransportException e) {
            disconnect(member);
            return false;
        }
    }

    @Override
    public void disconnect(final int member) {
        if (controlPeers[member] != NO_PEER && !closed) {
            control.lane().disconnect(controlPeers[member]);
        }
        final Lane lane = repair;
        if (repairPeers[member] != NO_PEER && lane != null && !closed) {
            lane.disconnect(repairPeers[member]);
        }
        controlPeers[member] = NO_PEER;
        repairPeers[member] = NO_PEER;
        cut(member);
    }

    private void cut(final int member) {
        final ExposedWindow current = share;
        if (current != null && !closed) {
            current.cut(member);
        }
    }

    @Override
    public boolean link(final int member, final byte[] descriptor) {
        final ExposedWindow current = share;
        cut(member);
        return current != null && !closed && current.accept(member, descriptor);
    }

    @Override
    public @Nullable LinkOffer linkOffer(final int member) {
        final ExposedWindow current = share;
        return current == null || closed ? null : current.offer(member, RemotePlace.NONE);
    }

    @Override
    public @Nullable LinkOffer copyOffer() {
        final ReplicaMemory memory = fed;
        if (memory == null && !askedToFeed && !closed) {
            askedToFeed = true;
            conductor.execute(this::makeFed);
        }
        return memory == null || closed ? null : memory.offer();
    }

    // Registering takes as long as the window is large.
    private void makeFed() {
        final Made ready = made;
        if (ready == null || ready.share() == null || oneSided == null || closed) {
            return;
        }
        try {
            fed = new ReplicaMemory(oneSided, ready.memory().window(), ready.share());
        } catch (final OutOfMemoryError | RuntimeException e) {
            notices.accept("subscriber of " + stream.channel() + ": is fed by datagram: " + e.getMessage());
        }
    }

    @Override
    public long feedWord() {
        final ReplicaMemory memory = fed;
        return memory == null ? 0 : memory.word();
    }

    @Override
    public int takeOwn(final long firstSequence, final int count) {
        final ReadSlots slots = landing;
        final RepairStore held = store;
        return slots == null || held == null ? ReceiverOutput.NOT_READ : slots.copy(held, firstSequence, count);
    }

    @Override
    public void sendControl(final int member, final int bytes) {
        if (controlPeers[member] != NO_PEER) {
            control.unicast(controlPeers[member], bytes);
        }
    }

    @Override
    public int repair(final int member, final long firstSequence, final int count) {
        final Lane lane = repair;
        final RepairStore held = store;
        if (lane == null || held == null || repairPeers[member] == NO_PEER) {
            return 0;
        }
        final int slot = held.slot(firstSequence);
        // The ring goes on behind the window, with a slot that is nobody's.
        final int head = Math.min(count, held.slots() - slot);
        try {
            final int accepted = lane.unicast(repairPeers[member], slot, head);
            return accepted < head || head == count
                    ? accepted
                    : accepted + lane.unicast(repairPeers[member], 0, count - head);
        } catch (final RuntimeException e) {
            // No reason to stop receiving. It is closed with the rest.
            repair = null;
            notices.accept(
                    "subscriber of " + stream.channel() + ": repairs nothing for others any more: " + e.getMessage());
            return 0;
        }
    }

    /// Says nothing any more; what was put into the store stays readable.
    void closeLane() {
        for (int member = 0; member < controlPeers.length; member++) {
            disconnect(member);
        }
        closed = true;
        CloseHelper.close(repair);
    }

    /// Idempotent.
    @Override
    public void close() {
        closed = true;
        final Made ready = made;
        made = null;
        if (ready != null) {
            CloseHelper.closeAll(fed, ready.share(), ready.repair(), ready.memory());
        }
    }
}
