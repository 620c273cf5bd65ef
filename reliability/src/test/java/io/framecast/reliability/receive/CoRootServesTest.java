package io.framecast.reliability.receive;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.flow.AckScheduler;
import io.framecast.reliability.repair.RequestLimit;
import io.framecast.reliability.window.ReceiveWindow;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.window.SlotGuards;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.AckLayout;
import io.framecast.reliability.wire.AckValues;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.FrameLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.NackLayout;
import io.framecast.reliability.wire.RcConnectLayout;
import io.framecast.reliability.wire.RepairGroupLayout;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// The serving side of a co-root: its list, its group's reports, its repairs and its aggregate.
final class CoRootServesTest implements CoRootOutput, ReceiverOutput {
    private static final long SESSION = 77;
    private static final long OWN_ID = 9;
    private static final int SLOTS = 64;
    private static final int SLOT_BYTES = 64;
    private static final long MS = 1_000_000;

    /// An aggregate, as the source reads it.
    private record Aggregate(long acknowledged, long grant, int covered, long slowestMember, boolean complete) {}

    private record Sent(int member, long first, int count) {}

    private final List<Sent> repairs = new ArrayList<>();
    private final List<Integer> connected = new ArrayList<>();
    private final List<Integer> disconnected = new ArrayList<>();
    private final List<byte[]> controls = new ArrayList<>();
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final MemorySegment control = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
    private final MemorySegment datagram = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
    private final Counts<ReceiverCount> counts = new Counts<>(ReceiverCount.class);
    private final ReceiveWindow window = new ReceiveWindow(256);
    private final SourceWatch source = new SourceWatch(5_000 * MS);
    private final AckScheduler acks = new AckScheduler(400, 0, 1_000 * MS);
    private final RepairStore store = new RepairStore(new WindowMemory(
            MemorySegment.ofArray(new byte[SLOTS * DataLayout.LENGTH]),
            MemorySegment.ofArray(new byte[SLOTS * SLOT_BYTES]),
            new int[SLOTS],
            SLOTS,
            SLOT_BYTES));
    private final List<String> links = new ArrayList<>();
    private @Nullable EndpointOffer endpointOffer;
    private final CoRoot coRoot = new CoRoot(new ControlWriter(SESSION), this, this, counts, window, source, store);

    private static LaneAddresses addresses(final long id) {
        return new LaneAddresses(new byte[] {1, (byte) id}, new byte[] {2, (byte) id});
    }

    private int list(final int epoch, final int part, final int total, final long... ids) {
        for (int i = 0; i < ids.length; i++) {
            RepairGroupLayout.member(datagram, i, ids[i], epoch, addresses(ids[i]));
        }
        RepairGroupLayout.write(
                new ControlWriter(SESSION).receiver(OWN_ID).epoch(epoch).in(datagram), part, total);
        assertTrue(RepairGroupLayout.isValid(datagram, 0));
        return coRoot.onSet(datagram, 0, 0);
    }

    private Verdict ack(final long id, final long acknowledged, final boolean complete) {
        final AckValues values = new AckValues()
                .progress(acknowledged, acknowledged + 40, acknowledged)
                .complete(complete)
                .echo(0, 0);
        AckLayout.write(new ControlWriter(SESSION).receiver(id).in(datagram), values);
        return coRoot.onReport(datagram, 0, 0);
    }

    private Verdict nack(final long id, final long nowNs, final long first, final int count) {
        NackLayout.range(datagram, false, 0, first, count);
        NackLayout.write(new ControlWriter(SESSION).receiver(id).in(datagram), 1);
        return coRoot.onReport(datagram, 0, nowNs);
    }

    // This receiver itself gets, and keeps, one datagram.
    private void hold(final long sequence) {
        store.putPayload(sequence, MemorySegment.ofArray(new byte[SLOT_BYTES]), 0, SLOT_BYTES);
        store.putHeader(sequence, MemorySegment.ofArray(new byte[DataLayout.LENGTH]), 0);
        window.receive(sequence);
        coRoot.onHeld(sequence);
    }

    private Aggregate aggregate(final long acknowledged, final long grant, final boolean complete) {
        final AckValues values = new AckValues()
                .progress(acknowledged, grant, acknowledged)
                .complete(complete)
                .echo(0, 0);
        coRoot.aggregate(values, OWN_ID);
        AckLayout.write(new ControlWriter(SESSION).receiver(OWN_ID).in(control), values);
        assertTrue(AckLayout.isAggregate(control, 0) && AckLayout.isValid(control, 0));
        return new Aggregate(
                AckLayout.ACKNOWLEDGED.get(control, 0),
                AckLayout.GRANT.get(control, 0),
                AckLayout.COVERED.get(control, 0),
                AckLayout.SLOWEST_MEMBER.get(control, 0),
                AckLayout.isComplete(control, 0));
    }

    private Verdict link(final long id, final int epoch, final int descriptor) {
        final EndpointOffer own = EndpointOffer.ofMember(new byte[] {(byte) descriptor});
        RcConnectLayout.writeOfSet(
                new ControlWriter(SESSION).receiver(id).epoch(epoch).in(datagram), own);
        return coRoot.onReport(datagram, 0, 0);
    }

    private void guard() {
        store.guardedBy(new SlotGuards(
                MemorySegment.ofArray(new long[SLOTS]),
                new WindowMemory(
                        MemorySegment.NULL,
                        MemorySegment.ofArray(new byte[SLOTS * SLOT_BYTES]),
                        new int[SLOTS],
                        SLOTS,
                        SLOT_BYTES)));
    }

    @Test
    void shouldLinkMembersOfItsSetAndNobodyElse() {
        guard();
        list(3, 0, 2, 20, 21);
        assertEquals(Verdict.UNKNOWN_MEMBER, link(30, 3, 1));
        assertEquals(Verdict.GOOD, link(20, 3, 1));
        assertEquals(Verdict.GOOD, link(21, 3, 2));
        assertEquals(Verdict.GOOD, link(20, 3, 1), "sent again");
        assertEquals(List.of("0 by 1", "1 by 2"), links);
        assertEquals(List.of(), controls, "no endpoint stands yet");
        endpointOffer = EndpointOffer.ofMember(new byte[] {9});
        link(21, 3, 2);
        assertEquals(1, controls.size());
        final MemorySegment answer = MemorySegment.ofArray(controls.getFirst());
        assertTrue(RcConnectLayout.isValid(answer, 0) && RcConnectLayout.isOfSet(answer, 0));
        assertEquals(21, ControlLayout.RECEIVER.get(answer, 0));
        assertEquals(3, ControlLayout.EPOCH.get(answer, 0));
        assertArrayEquals(new byte[] {9}, RcConnectLayout.offer(answer, 0).descriptor());
        assertEquals(1, counts.get(ReceiverCount.MEMBER_LINKS));
    }

    @Test
    void shouldLinkAMemberAnewWhenItComesWithAnotherEndpointAndNotForEver() {
        guard();
        list(3, 0, 1, 20);
        for (int i = 0; i < 8; i++) {
            assertEquals(Verdict.GOOD, link(20, 3, i));
        }
        assertEquals(Verdict.LIMITED, link(20, 3, 99));
        assertEquals(8, links.size());
        // The member left the group, and came back to it.
        list(4, 0, 1, 21);
        list(5, 0, 1, 20);
        assertEquals(Verdict.GOOD, link(20, 5, 99));
        assertEquals(9, links.size());
    }

    @Test
    void shouldLetNobodyReadACopyThatNothingVouchesFor() {
        list(3, 0, 1, 20);
        assertEquals(Verdict.GOOD, link(20, 3, 1));
        assertEquals(List.of(), links);
    }

    @Test
    void shouldRejectLinksThatCannotBe() {
        guard();
        list(3, 0, 1, 20);
        final EndpointOffer own = EndpointOffer.ofMember(new byte[] {1});
        RcConnectLayout.write(new ControlWriter(SESSION).receiver(20).in(datagram), 7, own);
        assertEquals(Verdict.IMPOSSIBLE, coRoot.onReport(datagram, 0, 0), "a source's, from a member");
        RcConnectLayout.writeOfSet(
                new ControlWriter(SESSION).receiver(20).epoch(3).in(datagram), own);
        for (final short length : new short[] {0, 65, -1}) {
            datagram.set(ValueLayout.JAVA_SHORT_UNALIGNED, 54, length);
            assertEquals(Verdict.IMPOSSIBLE, coRoot.onReport(datagram, 0, 0));
        }
        assertEquals(List.of(), links);
    }

    @Test
    void shouldServeAListOnceAllItsPartsAreHere() {
        final long[] first = new long[RepairGroupLayout.MEMBERS_PER_PART];
        java.util.Arrays.setAll(first, i -> 20L + i);
        final int total = first.length + 2;
        assertEquals(0, list(3, 1, total, 50, 51));
        assertEquals(0, list(3, 1, total, 50, 51), "the same part twice");
        assertEquals(List.of(), connected);
        assertEquals(Verdict.UNKNOWN_MEMBER, ack(50, 1, false));
        assertEquals(3, list(3, 0, total, first));
        assertEquals(total, connected.size());
        assertEquals(total, counts.get(ReceiverCount.SERVED_MEMBERS));
        assertEquals(Verdict.GOOD, ack(50, 1, false));
        assertEquals(Verdict.GOOD, ack(20, 1, false));
        assertEquals(2, counts.get(ReceiverCount.REPORTS_TAKEN));
    }

    @Test
    void shouldForgetWhoIsNotListedAnyMore() {
        list(3, 0, 2, 20, 21);
        assertEquals(5, list(5, 0, 2, 21, 22));
        assertEquals(List.of(0), disconnected);
        assertEquals(List.of(0, 1, 0), connected, "who stays is not connected again");
        assertEquals(2, counts.get(ReceiverCount.SERVED_MEMBERS));
        assertEquals(Verdict.UNKNOWN_MEMBER, ack(20, 1, false));
        assertEquals(Verdict.GOOD, ack(22, 1, false));
    }

    @Test
    void shouldNotGoBackToAnOlderList() {
        list(5, 0, 1, 20);
        assertEquals(5, list(4, 0, 2, 30, 31));
        assertEquals(Verdict.UNKNOWN_MEMBER, ack(30, 1, false));
        assertEquals(5, list(5, 0, 2, 30, 31), "an epoch has one list");
        assertEquals(Verdict.UNKNOWN_MEMBER, ack(30, 1, false));
        // Half a list of a newer epoch changes nothing; an older half is not mixed with it.
        final long[] half = new long[RepairGroupLayout.MEMBERS_PER_PART];
        java.util.Arrays.setAll(half, i -> 40L + i);
        assertEquals(5, list(6, 0, half.length + 1, half));
        assertEquals(5, list(7, 1, half.length + 1, 60));
        assertEquals(Verdict.UNKNOWN_MEMBER, ack(40, 1, false));
        assertEquals(7, list(7, 0, half.length + 1, half));
        assertEquals(Verdict.GOOD, ack(40, 1, false));
    }

    @Test
    void shouldForgetAllWhenAnotherServes() {
        list(3, 0, 2, 20, 21);
        coRoot.resign();
        assertEquals(List.of(0, 1), disconnected);
        assertEquals(0, counts.get(ReceiverCount.SERVED_MEMBERS));
    }

    @Test
    void shouldSayTheLeastOfAllAndWhoItIs() {
        list(3, 0, 2, 20, 21);
        assertEquals(2, aggregate(90, 130, false).covered(), "no member has reported");
        ack(20, 50, true);
        ack(21, 70, true);
        assertEquals(new Aggregate(50, 90, 3, 20, false), aggregate(90, 130, false));
        assertEquals(new Aggregate(40, 60, 3, OWN_ID, true), aggregate(40, 60, true));
        assertEquals(3, counts.get(ReceiverCount.AGGREGATES));
    }

    @Test
    void shouldSpeakForNobodyBeforeItReported() {
        list(3, 0, 1, 20);
        assertEquals(new Aggregate(90, 130, 2, OWN_ID, true), aggregate(90, 130, true));
    }

    @Test
    void shouldTellSoonWhatChanged() {
        list(3, 0, 1, 20);
        aggregate(0, 40, false);
        acks.onSent(40, 0, 0);
        coRoot.onProgress(new AckValues().progress(0, 40, 0), 0, acks, 10);
        assertFalse(acks.isPending(), "nothing is new");
        ack(20, 0, false);
        coRoot.onProgress(new AckValues().progress(0, 40, 0), 0, acks, 10);
        assertTrue(acks.isDue(10), "another is covered");
        aggregate(0, 40, false);
        acks.onSent(40, 0, 10);
        ack(20, 10, false);
        coRoot.onProgress(new AckValues().progress(0, 40, 0), 0, acks, 20);
        assertFalse(acks.isPending(), "it lacks that itself");
        coRoot.onProgress(new AckValues().progress(10, 40, 10), 10, acks, 20);
        assertTrue(acks.isPending() && !acks.isDue(20), "frees some of the window: in a while");
        aggregate(10, 40, false);
        acks.onSent(40, 10, 30);
        ack(20, 10, true);
        coRoot.onProgress(new AckValues().progress(10, 40, 10).complete(true), 10, acks, 40);
        assertTrue(acks.isDue(40), "all have all");
    }

    @Test
    void shouldRepairWhatItHolds() {
        list(3, 0, 2, 20, 21);
        for (long sequence = 0; sequence < 8; sequence++) {
            hold(sequence);
        }
        assertFalse(coRoot.hasRepairs());
        assertEquals(Verdict.GOOD, nack(20, 1 * MS, 2, 3));
        assertTrue(coRoot.hasRepairs());
        assertEquals(3, coRoot.onTick(1 * MS));
        assertEquals(List.of(new Sent(0, 2, 3)), repairs);
        assertEquals(3, counts.get(ReceiverCount.REPAIRS_SENT));
        assertEquals(0, coRoot.onTick(1 * MS));
        // Half a round trip later a member that cannot have it yet requests the same, and so does another.
        nack(20, 2 * MS - 1, 2, 3);
        nack(21, 2 * MS - 1, 3, 1);
        assertEquals(1, coRoot.onTick(2 * MS - 1));
        assertEquals(new Sent(1, 3, 1), repairs.getLast());
        nack(20, 2 * MS, 2, 1);
        assertEquals(1, coRoot.onTick(2 * MS));
        assertEquals(new Sent(0, 2, 1), repairs.getLast());
    }

    @Test
    void shouldRepairWhatItLacksAsSoonAsItHasIt() {
        list(3, 0, 1, 20);
        nack(20, 1, 5, 1);
        assertFalse(coRoot.hasRepairs());
        hold(5);
        assertEquals(1, coRoot.onTick(2));
        assertEquals(List.of(new Sent(0, 5, 1)), repairs);
    }

    @Test
    void shouldLeaveToTheSourceWhatCameBeforeItServed() {
        list(3, 0, 1, 20);
        window.reset(30);
        assertEquals(Verdict.GOOD, nack(20, 1, 10, 5));
        for (long sequence = 10; sequence < 15; sequence++) {
            assertFalse(store.holds(sequence));
        }
        assertEquals(0, coRoot.onTick(2));
    }

    @Test
    void shouldSendNothingToOneWhoIsNotServedAnyMore() {
        list(3, 0, 2, 20, 21);
        hold(0);
        nack(20, 1, 0, 1);
        list(4, 0, 1, 21);
        assertEquals(0, coRoot.onTick(2));
        assertFalse(coRoot.hasRepairs());
    }

    @Test
    void shouldLookAtNoMoreThanAWindowBeyondItsOwn() {
        list(3, 0, 1, 20);
        assertEquals(Verdict.GOOD, nack(20, 1, SLOTS, Integer.MAX_VALUE));
        assertEquals(Verdict.GOOD, nack(20, 1, 0, Integer.MAX_VALUE));
        hold(SLOTS - 1);
        hold(SLOTS);
        assertEquals(1, coRoot.onTick(2));
        assertEquals(List.of(new Sent(0, SLOTS - 1, 1)), repairs);
    }

    @Test
    void shouldLookAtABoundedNumberOfRequestsAtATime() {
        list(3, 0, 1, 20);
        // Datagrams that it had and does not hold are looked at, and not repaired.
        for (long sequence = 0; sequence < SLOTS; sequence++) {
            window.receive(sequence);
        }
        final int rounds = RequestLimit.SEQUENCES_MAX / SLOTS;
        for (int i = 0; i < rounds; i++) {
            assertEquals(Verdict.GOOD, nack(20, 7, 0, SLOTS));
        }
        assertEquals(Verdict.LIMITED, nack(20, 7, 0, 1));
        assertEquals(Verdict.GOOD, nack(20, 8, 0, 1));
    }

    @Test
    void shouldSendABoundedNumberOfRepairsInATick() {
        final long[] ids = {20, 21, 22, 23, 24, 25};
        list(3, 0, ids.length, ids);
        for (long sequence = 0; sequence < SLOTS; sequence++) {
            hold(sequence);
        }
        for (final long id : ids) {
            // One by one, so that they do not go as one run.
            for (long sequence = 0; sequence < SLOTS; sequence += 2) {
                nack(id, 1, sequence, 1);
            }
            for (long sequence = 1; sequence < SLOTS; sequence += 2) {
                nack(id, 1, sequence, 1);
            }
        }
        final int sent = coRoot.onTick(2);
        assertTrue(
                sent >= CoRoot.REPAIRS_PER_TICK_MAX && sent < CoRoot.REPAIRS_PER_TICK_MAX + ids.length, "sent " + sent);
        assertTrue(coRoot.hasRepairs());
        assertEquals(SLOTS * ids.length - sent, coRoot.onTick(3));
        assertEquals((long) SLOTS * ids.length, counts.get(ReceiverCount.REPAIRS_SENT));
    }

    @Test
    void shouldTakeTheAcknowledgementThatRidesOnANack() {
        list(3, 0, 1, 20);
        NackLayout.range(datagram, true, 0, 8, 1);
        NackLayout.write(
                new ControlWriter(SESSION).receiver(20).in(datagram),
                1,
                new AckValues().progress(8, 48, 9).echo(AckLayout.NO_ECHO, 0));
        assertEquals(Verdict.GOOD, coRoot.onReport(datagram, 0, 1));
        assertEquals(8, aggregate(90, 130, false).acknowledged());
    }

    @Test
    void shouldGiveMetadataWhereItHasThem() {
        list(3, 0, 1, 20);
        store.putMetadata(12, new byte[] {1, 2, 3});
        FrameLayout.writeRequest(new ControlWriter(SESSION).receiver(20).in(datagram), 12);
        assertEquals(Verdict.GOOD, coRoot.onReport(datagram, 0, 1));
        assertEquals(1, controls.size());
        final MemorySegment frame = MemorySegment.ofArray(controls.getFirst());
        assertEquals(Verdict.GOOD, ControlLayout.check(frame, 0, (int) frame.byteSize(), checksum));
        assertTrue(FrameLayout.isValid(frame, 0));
        assertEquals(12, FrameLayout.FIRST_SEQUENCE.get(frame, 0));
        assertArrayEquals(new byte[] {1, 2, 3}, FrameLayout.metadata(frame, 0));
        FrameLayout.writeRequest(new ControlWriter(SESSION).receiver(20).in(datagram), 13);
        assertEquals(Verdict.GOOD, coRoot.onReport(datagram, 0, 1));
        assertEquals(1, controls.size(), "what it lacks the source has");
    }

    @Test
    void shouldRejectWhatNoMemberSays() {
        list(3, 0, 1, 20);
        final ControlWriter ids = new ControlWriter(SESSION).receiver(20);
        final AckValues forOthers = new AckValues().progress(1, 2, 1).echo(0, 0).aggregate(3, 5);
        AckLayout.write(ids.in(datagram), forOthers);
        assertEquals(Verdict.IMPOSSIBLE, coRoot.onReport(datagram, 0, 0));
        AckLayout.write(ids.in(datagram), new AckValues().progress(5, 2, 5).echo(0, 0));
        assertEquals(Verdict.IMPOSSIBLE, coRoot.onReport(datagram, 0, 0));
        NackLayout.range(datagram, false, 0, 8, 0);
        NackLayout.write(ids.in(datagram), 1);
        assertEquals(Verdict.IMPOSSIBLE, coRoot.onReport(datagram, 0, 0));
        FrameLayout.writeRequest(ids.in(datagram), -1);
        assertEquals(Verdict.IMPOSSIBLE, coRoot.onReport(datagram, 0, 0));
        RepairGroupLayout.member(datagram, 0, 20, 3, addresses(20));
        RepairGroupLayout.write(ids.epoch(4).in(datagram), 0, 1);
        assertEquals(Verdict.BAD_TYPE, coRoot.onReport(datagram, 0, 0));
        assertEquals(0, counts.get(ReceiverCount.REPORTS_TAKEN));
        assertEquals(List.of(), controls);
    }

    @Override
    public RepairStore openStore() {
        return store;
    }

    @Override
    public boolean connect(final int member, final LaneAddresses addresses) {
        assertEquals(1, addresses.control()[0]);
        assertEquals(2, addresses.repair()[0]);
        connected.add(member);
        return true;
    }

    @Override
    public void disconnect(final int member) {
        disconnected.add(member);
    }

    @Override
    public MemorySegment control() {
        return control;
    }

    @Override
    public void sendControl(final int bytes) {
        throw new AssertionError("a co-root's own reports are its receiver's");
    }

    @Override
    public void sendControl(final int member, final int bytes) {
        controls.add(control.asSlice(0, bytes).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
    }

    @Override
    public int repair(final int member, final long firstSequence, final int count) {
        repairs.add(new Sent(member, firstSequence, count));
        return count;
    }

    @Override
    public boolean link(final int member, final byte[] descriptor) {
        links.add(member + " by " + descriptor[0]);
        return true;
    }

    @Override
    public @Nullable EndpointOffer endpointOffer(final int member) {
        return endpointOffer;
    }
}
