package io.framecast.reliability.sim;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.reliability.CoRootOutput;
import io.framecast.reliability.ReceiverOutput;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.window.SlotGuards;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.LinkOffer;
import io.framecast.reliability.wire.RemotePlace;
import io.framecast.reliability.wire.SetLayout;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// What a receiver does for others: its copy of the window, and the way to them.
final class SimCoRoot implements CoRootOutput {
    private static final int NOBODY = -1;
    private static final long CONNECTING_MAX_NS = 30_000_000;

    private final SimWorld world;
    private final SimNetwork network;
    private final StreamInfo stream;
    private final MemorySegment control;
    private final int address;
    private final int[] members = new int[SetLayout.MEMBERS_MAX];
    private final SimReceiver process;
    private final @Nullable SimConnection[] connections = new SimConnection[SetLayout.MEMBERS_MAX];
    private final MemorySegment headers;
    private final MemorySegment payloads;
    private final MemorySegment guards;
    private final SimInbox repairs;
    private @Nullable RepairStore store;
    private @Nullable SimConnection copy;
    private long feedWord;
    private boolean cut;

    /// The source's way into it.
    private final class Copy extends Connection {
        private Copy(final int number, final long readyNs) {
            super(number, readyNs);
        }

        @Override
        boolean write(final long word) {
            if (isServed()) {
                feedWord = word;
            }
            return isServed();
        }

        @Override
        boolean vouch(final long sequence, final long word) {
            guards.setAtIndex(JAVA_LONG, (int) sequence & stream.windowSlots() - 1, word);
            return isServed();
        }

        @Override
        boolean put(final long sequence, final MemorySegment datagram, final int from, final int to) {
            if (!isServed()) {
                return false;
            }
            final int slot = (int) sequence & stream.windowSlots() - 1;
            final boolean header = from < DataLayout.LENGTH;
            final long at = header
                    ? (long) slot * DataLayout.LENGTH + from
                    : (long) slot * stream.slotBytes() + from - DataLayout.LENGTH;
            MemorySegment.copy(datagram, from, header ? headers : payloads, at, to - from);
            return true;
        }
    }

    /// A member's way into the copy.
    private class Connection extends SimConnection {
        private Connection(final int number, final long readyNs) {
            super(number, readyNs);
        }

        @Override
        boolean isAlive() {
            return !process.isStopped();
        }

        @Override
        boolean write(final long word) {
            throw new IllegalStateException("a member writes to its co-root");
        }

        @Override
        @Nullable
        MemorySegment slot(final long sequence) {
            if (!isServed()) {
                return null;
            }
            final int slot = (int) sequence & stream.windowSlots() - 1;
            final byte[] bytes = new byte[DataLayout.LENGTH + stream.slotBytes()];
            MemorySegment.copy(headers, JAVA_BYTE, (long) slot * DataLayout.LENGTH, bytes, 0, DataLayout.LENGTH);
            MemorySegment.copy(
                    payloads,
                    JAVA_BYTE,
                    (long) slot * stream.slotBytes(),
                    bytes,
                    DataLayout.LENGTH,
                    stream.slotBytes());
            return MemorySegment.ofArray(bytes);
        }

        @Override
        long guard(final long sequence) {
            return guards.getAtIndex(JAVA_LONG, (int) sequence & stream.windowSlots() - 1);
        }
    }

    /// @param control where the receiver writes control datagrams
    /// @param process the receiver's own
    /// @param repairs where what it takes out of its copy comes, as repairs do
    SimCoRoot(final SimReceiver process, final StreamInfo stream, final MemorySegment control, final SimInbox repairs) {
        this.repairs = repairs;
        this.process = process;
        world = process.host().world();
        address = process.host().address();
        headers = MemorySegment.ofArray(new byte[stream.windowSlots() * DataLayout.LENGTH]);
        payloads = MemorySegment.ofArray(new byte[stream.windowSlots() * stream.slotBytes()]);
        guards = MemorySegment.ofArray(new long[stream.windowSlots()]);
        network = world.network();
        this.stream = stream;
        this.control = control;
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
            final int[] lengths = new int[slots];
            made = new RepairStore(headers, payloads, lengths, slots, stream.slotBytes())
                    .guardedBy(new SlotGuards(guards, payloads, lengths, slots, stream.slotBytes()));
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
        cut(member);
    }

    private void cut(final int member) {
        final SimConnection connection = connections[member];
        if (connection != null) {
            connection.cut();
            connections[member] = null;
        }
    }

    @Override
    public boolean link(final int member, final byte[] descriptor) {
        cut(member);
        final long readyNs = world.events().nowNs() + process.random().nextLong(CONNECTING_MAX_NS);
        connections[member] = world.connect(number -> new Connection(number, readyNs));
        return true;
    }

    @Override
    public @Nullable LinkOffer linkOffer(final int member) {
        final SimConnection connection = connections[member];
        return connection == null || !connection.isReady(world.events().nowNs())
                ? null
                : LinkOffer.ofMember(connection.descriptor());
    }

    @Override
    public @Nullable LinkOffer copyOffer() {
        final SimConnection made = copy == null && !cut ? makeCopy() : copy;
        if (made == null || !made.isReady(world.events().nowNs())) {
            return null;
        }
        final RemotePlace place = new RemotePlace(8L * SimConnection.number(made.descriptor()), 1);
        return LinkOffer.ofCopy(place, place, place, place);
    }

    private SimConnection makeCopy() {
        final long readyNs = world.events().nowNs() + process.random().nextLong(CONNECTING_MAX_NS);
        copy = world.connect(number -> new Copy(number, readyNs));
        return copy;
    }

    /// The connection to the source is gone: nothing is written any more.
    void cutCopy() {
        cut = true;
        if (copy != null) {
            copy.cut();
            copy = null;
        }
    }

    @Override
    public long feedWord() {
        return feedWord;
    }

    @Override
    public int takeOwn(final long firstSequence, final int count) {
        final RepairStore held = store;
        if (held == null) {
            return ReceiverOutput.NO_PULL;
        }
        final int taken = process.random().nextInt(-1, count + 1);
        if (taken < 0) {
            return ReceiverOutput.NO_PULL;
        }
        for (int i = 0; i < taken; i++) {
            repairs.add(MemorySegment.ofArray(held.datagram(firstSequence + i)));
        }
        world.tally().owned += taken;
        return taken;
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
