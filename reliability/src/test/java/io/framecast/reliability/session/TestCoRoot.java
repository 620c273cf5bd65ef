package io.framecast.reliability.session;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.onesided.ExposedWindow;
import io.framecast.reliability.onesided.ReplicaMemory;
import io.framecast.reliability.receive.CoRootOutput;
import io.framecast.reliability.receive.RemoteMemory;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.RemotePlace;
import io.framecast.reliability.wire.RepairGroupLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A receiver's work as a co-root: the datagrams that it keeps, and its ways to the members of its group.
final class TestCoRoot implements CoRootOutput {
    final RepairStore store;

    private final @Nullable ExposedWindow exposed;
    private final @Nullable ReplicaMemory replica;
    private final @Nullable ReadSlots reads;
    private final SessionWorld world;
    private final MemorySegment control;
    private final int[] members = new int[64];

    /// @param reads slots for datagrams that it copies out of its own replica; null without one-sided operations
    TestCoRoot(
            final SessionWorld world,
            final StreamInfo stream,
            final MemorySegment control,
            final @Nullable ReadSlots reads) {
        this.world = world;
        this.control = control;
        this.reads = reads;
        final int slots = stream.windowSlots() + 1;
        final WindowMemory memory = new WindowMemory(
                Arena.ofAuto().allocate((long) slots * DataLayout.LENGTH, 64),
                Arena.ofAuto().allocate((long) slots * stream.slotBytes(), 64),
                new int[slots],
                stream.windowSlots(),
                stream.slotBytes());
        store = new RepairStore(memory);
        if (reads == null) {
            exposed = null;
            replica = null;
        } else {
            exposed = ExposedWindow.ofReplica(world.port, memory, RepairGroupLayout.MEMBERS_MAX, "", _ -> {});
            replica = new ReplicaMemory(world.port, memory, exposed);
            store.guardedBy(exposed.guards());
        }
    }

    @Override
    public RepairStore openStore() {
        return store;
    }

    @Override
    public boolean connect(final int member, final LaneAddresses addresses) {
        members[member] = addresses.control()[0];
        return true;
    }

    @Override
    public void disconnect(final int member) {
        // It keeps no state of members.
    }

    @Override
    public boolean link(final int member, final byte[] descriptor) {
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
        return reads == null ? RemoteMemory.NOT_READ : reads.copy(store, firstSequence, count);
    }

    @Override
    public void sendControl(final int member, final int bytes) {
        world.carryControl(members[member], control.asSlice(0, bytes).toArray(JAVA_BYTE));
    }

    @Override
    public int repair(final int member, final long firstSequence, final int count) {
        for (long sequence = firstSequence; sequence < firstSequence + count; sequence++) {
            world.carryRepair(members[member], store.datagram(sequence));
        }
        return count;
    }
}
