package io.framecast.reliability.session;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.framecast.reliability.receive.CoRootOutput;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;

/// A receiver's work as a co-root: the datagrams that it keeps, and its ways to the members of its group.
final class TestCoRoot implements CoRootOutput {
    final RepairStore store;

    private final SessionWorld world;
    private final MemorySegment control;
    private final int[] members = new int[64];

    TestCoRoot(final SessionWorld world, final StreamInfo stream, final MemorySegment control) {
        this.world = world;
        this.control = control;
        final int slots = stream.windowSlots() + 1;
        store = new RepairStore(new WindowMemory(
                MemorySegment.ofArray(new byte[slots * DataLayout.LENGTH]),
                MemorySegment.ofArray(new byte[slots * stream.slotBytes()]),
                new int[slots],
                stream.windowSlots(),
                stream.slotBytes()));
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
