package io.framecast.reliability.sim;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.framecast.reliability.CoRootOutput;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.SetLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// What a receiver does for others: its copy of the window, and the way to them.
final class SimCoRoot implements CoRootOutput {
    private static final int NOBODY = -1;

    private final SimWorld world;
    private final SimNetwork network;
    private final StreamInfo stream;
    private final MemorySegment control;
    private final int address;
    private final int[] members = new int[SetLayout.MEMBERS_MAX];
    private @Nullable RepairStore store;

    /// @param control where the receiver writes control datagrams
    /// @param address the receiver's own
    SimCoRoot(final SimWorld world, final StreamInfo stream, final MemorySegment control, final int address) {
        this.world = world;
        network = world.network();
        this.stream = stream;
        this.control = control;
        this.address = address;
        java.util.Arrays.fill(members, NOBODY);
    }

    /// How a receiver's address is written on the wire.
    static byte[] name(final int address) {
        return new byte[] {(byte) (address >>> 8), (byte) address};
    }

    static int address(final byte[] name) {
        return ((name[0] & 0xff) << 8) | (name[1] & 0xff);
    }

    @Override
    public RepairStore openStore() {
        RepairStore made = store;
        if (made == null) {
            final int slots = stream.windowSlots();
            made = new RepairStore(
                    MemorySegment.ofArray(new byte[slots * DataLayout.LENGTH]),
                    MemorySegment.ofArray(new byte[slots * stream.slotBytes()]),
                    new int[slots],
                    slots,
                    stream.slotBytes());
            store = made;
        }
        return made;
    }

    @Override
    public boolean connect(final int member, final LaneAddresses addresses) {
        if (members[member] != NOBODY) {
            throw new IllegalStateException("member " + member + " of a set is connected twice");
        }
        members[member] = address(addresses.control());
        return network.isAddress(members[member]);
    }

    @Override
    public void disconnect(final int member) {
        members[member] = NOBODY;
    }

    @Override
    public void sendControl(final int member, final int bytes) {
        final byte[] datagram = control.asSlice(0, bytes).toArray(JAVA_BYTE);
        network.between(address, members[member], SimLane.CONTROL, MemorySegment.ofArray(datagram));
    }

    @Override
    public int repair(final int member, final long firstSequence, final int count) {
        for (long sequence = firstSequence; sequence < firstSequence + count; sequence++) {
            if (store == null || !store.holds(sequence)) {
                throw new IllegalStateException("a co-root repairs " + sequence + ", which it does not hold");
            }
            world.tally().setRepairs++;
            final MemorySegment datagram = MemorySegment.ofArray(store.datagram(sequence));
            network.between(address, members[member], SimLane.REPAIR, datagram);
        }
        return count;
    }
}
