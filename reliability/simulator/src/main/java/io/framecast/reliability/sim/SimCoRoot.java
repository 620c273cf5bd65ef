package io.framecast.reliability.sim;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.onesided.ExposedWindow;
import io.framecast.reliability.onesided.OneSidedPort;
import io.framecast.reliability.onesided.ReplicaMemory;
import io.framecast.reliability.receive.CoRootOutput;
import io.framecast.reliability.receive.RemoteMemory;
import io.framecast.reliability.sim.net.SimLane;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.RemotePlace;
import io.framecast.reliability.wire.RepairGroupLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// A receiver's work as a co-root: its replica of the window, and its paths to members.
final class SimCoRoot implements CoRootOutput {
    private static final int NO_MEMBER = -1;

    private final SimWorld world;
    private final SimNetwork network;
    private final MemorySegment control;
    private final int address;
    private final int[] members = new int[RepairGroupLayout.MEMBERS_MAX];
    private final SimReception reception;
    private final SimReceiver process;
    private final WindowMemory memory;
    private final @Nullable ReadSlots reads;
    private final @Nullable ExposedWindow exposed;
    private final @Nullable ReplicaMemory replica;
    private final Filler filler;
    private @Nullable RepairStore store;

    /// @param control the receiver's memory for control datagrams
    /// @param process the receiver's own
    /// @param reads the slots for datagrams that it copies out of its own replica; null for none
    SimCoRoot(
            final SimReception reception,
            final SimReceiver process,
            final StreamInfo stream,
            final MemorySegment control,
            final @Nullable ReadSlots reads,
            final Filler filler) {
        this.reception = reception;
        this.process = process;
        this.reads = reads;
        this.filler = filler;
        world = process.world();
        address = process.host().address();
        network = world.network();
        this.control = control;
        final int slots = stream.windowSlots() + 1;
        memory = new WindowMemory(
                MemorySegment.ofArray(new byte[slots * stream.headerBytes()]),
                MemorySegment.ofArray(new byte[slots * stream.slotBytes()]),
                new int[slots],
                stream.windowSlots(),
                stream.slotBytes(),
                stream.headerBytes());
        if (world.options().audience().oneSided() > 0) {
            final OneSidedPort port = new SimOneSided(process, null);
            exposed = ExposedWindow.ofReplica(port, memory, RepairGroupLayout.MEMBERS_MAX, "", _ -> {});
            replica = new ReplicaMemory(port, memory, exposed);
        } else {
            exposed = null;
            replica = null;
        }
        Arrays.fill(members, NO_MEMBER);
    }

    @Override
    public Filler filler() {
        return filler;
    }

    @Override
    public RepairStore openStore() {
        RepairStore made = store;
        if (made == null) {
            made = new RepairStore(memory);
            if (exposed != null) {
                made.guardedBy(exposed.guards());
            }
            store = made;
        }
        return made;
    }

    @Override
    public boolean connect(final int member, final LaneAddresses addresses) {
        if (members[member] != NO_MEMBER) {
            throw new IllegalStateException("member " + member + " of a set is connected twice");
        }
        members[member] = SimNetwork.number(addresses.control());
        return network.isAddress(members[member]) && Arrays.equals(addresses.control(), addresses.repair());
    }

    @Override
    public void disconnect(final int member) {
        members[member] = NO_MEMBER;
        cut(member);
    }

    private void cut(final int member) {
        if (exposed != null) {
            exposed.cut(member);
        }
    }

    @Override
    public boolean link(final int member, final byte[] descriptor) {
        cut(member);
        return exposed != null && exposed.accept(member, descriptor);
    }

    @Override
    public @Nullable EndpointOffer endpointOffer(final int member) {
        return exposed == null ? null : exposed.offer(member, RemotePlace.NONE);
    }

    @Override
    public @Nullable EndpointOffer replicaOffer() {
        return replica == null ? null : replica.offer();
    }

    @Override
    public long feedWord() {
        return replica == null ? 0 : replica.word();
    }

    @Override
    public int copyOwn(final long firstSequence, final int count) {
        final RepairStore held = store;
        if (held == null || reads == null) {
            return RemoteMemory.NOT_READ;
        }
        final int taken = reads.copy(
                held, firstSequence, Math.min(count, 1 + process.random().nextInt(count)));
        if (taken > 0) {
            world.journal().count(SimCount.OWNED, taken);
            reception.life().onReported(firstSequence, taken);
        }
        return taken;
    }

    @Override
    public void sendControl(final int member, final int bytes) {
        final byte[] plain = control.asSlice(0, bytes).toArray(JAVA_BYTE);
        final MemorySegment datagram = reception.toMember(MemorySegment.ofArray(plain));
        if (datagram != null) {
            network.between(address, members[member], SimLane.CONTROL, datagram);
        }
    }

    @Override
    public int repair(final int member, final long firstSequence, final int count) {
        for (long sequence = firstSequence; sequence < firstSequence + count; sequence++) {
            if (store == null || !store.holds(sequence)) {
                throw new IllegalStateException("a co-root repairs " + sequence + ", which it does not hold");
            }
            world.count(SimCount.REPAIRS);
            world.count(SimCount.SET_REPAIRS);
            final MemorySegment datagram = MemorySegment.ofArray(store.datagram(sequence));
            network.between(address, members[member], SimLane.REPAIR, datagram);
        }
        return count;
    }
}
