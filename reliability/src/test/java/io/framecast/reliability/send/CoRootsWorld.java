package io.framecast.reliability.send;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.AckValues;
import io.framecast.reliability.wire.AssignLayout;
import io.framecast.reliability.wire.CoRootOffer;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.Delivery;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.JoinLayout;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.RepairGroupLayout;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// A source's co-roots with members made by a test, and the instructions that they get. Member m has id 100 + m.
final class CoRootsWorld implements SenderOutput {
    static final long SESSION = 77;
    static final long MS = 1_000_000;
    static final long ALIVE_MS = 5_000;
    /// The ring of every member; a grant is that far beyond the acknowledgement.
    static final int ROOM = 512;
    static final long LATE_NS = CoRoots.LATE_MIN_NS;

    /// An instruction as a member reads it.
    ///
    /// @param coRoot destination of the member's reports; 0: the source. Its own id when it is to serve
    /// @param serves ids of the members that it is to serve
    /// @param joined epochs in which they joined
    record Instruction(int member, int epoch, long coRoot, List<Long> serves, List<Integer> joined) {}

    final MemberTable members;
    final Counts<SenderCount> counts = new Counts<>(SenderCount.class);
    final CoRoots coRoots;
    final List<Instruction> instructed = new ArrayList<>();
    /// The source's next sequence.
    long next;
    long nowNs;

    private final HeaderChecksum checksum = new HeaderChecksum();
    private final MemorySegment control = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
    private final MemorySegment ack = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);

    CoRootsWorld(final int capacity, final CoRootConfig config) {
        members = new MemberTable(capacity);
        final StreamInfo stream =
                new StreamInfo(SESSION, "cam", 1408, 1024, 1 << 20, (int) ALIVE_MS, new byte[] {1}, new byte[] {2});
        coRoots = new CoRoots(
                new SenderConfig(stream, capacity, 0, config), members, this, counts, new ControlWriter(SESSION));
    }

    static CoRootsWorld of(final int joined, final int count) {
        return of(joined, count, joined);
    }

    static CoRootsWorld of(final int joined, final int count, final int capacity) {
        final CoRootsWorld world = new CoRootsWorld(capacity, new CoRootConfig(count, CoRootConfig.Feed.MULTICAST));
        for (int m = 0; m < joined; m++) {
            world.join(Delivery.RELIABLE, new CoRootOffer(0, true));
        }
        return world;
    }

    static LaneAddresses addresses(final int member) {
        return new LaneAddresses(new byte[] {1, (byte) member}, new byte[] {2, (byte) member});
    }

    int admit(final Delivery delivery, final CoRootOffer offer) {
        final int member = members.vacancy(nowNs);
        members.admit(
                member, 100 + member, new JoinLayout.Terms(ROOM, delivery, 1, addresses(member), offer), 1, nowNs);
        coRoots.onAdmitted(member);
        return member;
    }

    int join(final Delivery delivery, final CoRootOffer offer) {
        final int member = admit(delivery, offer);
        members.activate(member, next, 0, next + ROOM);
        members.of(member).started = true;
        return member;
    }

    void leave(final int member) {
        members.remove(member, Member.State.GONE);
        coRoots.onGone(member);
    }

    /// Time passes, in which the source hears all of these.
    List<Instruction> tick(final long ns, final int... heard) {
        nowNs += ns;
        for (final int member : heard) {
            members.of(member).heardNs = nowNs;
        }
        return tick();
    }

    List<Instruction> tick() {
        instructed.clear();
        coRoots.onTick(next, false, nowNs);
        return List.copyOf(instructed);
    }

    /// All members confirm their last instruction.
    void confirmAll() {
        for (final Instruction instruction : List.copyOf(instructed)) {
            confirm(instruction.member(), instruction.epoch());
        }
    }

    void confirm(final int member, final int epoch) {
        report(member, epoch, new AckValues().progress(0, 0, 0).echo(0, 0), false);
    }

    /// A co-root's aggregate.
    void aggregate(final int coRoot, final int covered, final long acknowledged, final long slowestMember) {
        report(coRoot, covered, aggregateOf(covered, acknowledged, slowestMember), false);
    }

    void aggregateAll(final int coRoot, final int covered, final long acknowledged) {
        report(coRoot, covered, aggregateOf(covered, acknowledged, 0), true);
    }

    private static AckValues aggregateOf(final int covered, final long acknowledged, final long slowestMember) {
        return new AckValues()
                .progress(acknowledged, acknowledged + ROOM, acknowledged)
                .echo(0, 0)
                .aggregate(covered, slowestMember);
    }

    private void report(final int member, final int epoch, final AckValues values, final boolean complete) {
        AckLayout.write(
                new ControlWriter(SESSION)
                        .receiver(members.of(member).id)
                        .epoch(epoch)
                        .in(ack),
                values);
        members.of(member).heardNs = nowNs;
        coRoots.onAck(member, ack, 0, complete);
    }

    /// The member's own ACK for everything up to here.
    void acknowledge(final int member, final long sequence) {
        members.of(member).heardNs = nowNs;
        if (members.acknowledge(member, sequence, sequence + ROOM)) {
            coRoots.onAdvanced(member, nowNs);
        }
    }

    @Override
    public MemorySegment control() {
        return control;
    }

    @Override
    public void sendControl(final int member, final int bytes) {
        assertTrue(ControlLayout.check(control, 0, bytes, checksum) == Verdict.GOOD);
        assertTrue(ControlLayout.RECEIVER.get(control, 0) == members.of(member).id);
        final int epoch = ControlLayout.EPOCH.get(control, 0);
        if (ControlLayout.type(control, 0) == ControlLayout.TYPE_ASSIGN) {
            assertTrue(AssignLayout.isValid(control, 0));
            final long coRoot = AssignLayout.CO_ROOT.get(control, 0);
            if (coRoot != 0) {
                assertTrue(AssignLayout.ADDRESS.read(control, 0)[1] == coRoot - 100, "the co-root's own address");
            }
            instructed.add(new Instruction(member, epoch, coRoot, List.of(), List.of()));
            return;
        }
        assertTrue(RepairGroupLayout.isValid(control, 0));
        final List<Long> ids = new ArrayList<>();
        final List<Integer> joined = new ArrayList<>();
        for (int i = 0; i < RepairGroupLayout.MEMBERS.get(control, 0); i++) {
            ids.add(RepairGroupLayout.id(control, 0, i));
            joined.add(RepairGroupLayout.joined(control, 0, i));
            assertTrue(
                    RepairGroupLayout.addresses(control, 0, i).control()[1] == ids.getLast() - 100,
                    "a member's address");
        }
        instructed.add(new Instruction(member, epoch, members.of(member).id, ids, joined));
    }

    @Override
    public boolean openFeed(final int member, final EndpointOffer copy, final int epoch, final long first) {
        return true;
    }

    @Override
    public int repair(final int member, final long firstSequence, final int count) {
        return count;
    }

    @Override
    public void multicastControl(final int bytes) {
        throw new AssertionError("co-roots are instructed one by one");
    }

    @Override
    public void probe(final int token) {
        throw new AssertionError("co-roots probe no member");
    }

    @Override
    public boolean isOneHost(final LaneAddresses addresses) {
        return true;
    }

    @Override
    public boolean connect(final int member, final byte[] controlAddress, final byte[] repairAddress) {
        throw new AssertionError("members are connected when they join");
    }

    @Override
    public void disconnect(final int member) {
        throw new AssertionError("members are disconnected when they leave");
    }
}
