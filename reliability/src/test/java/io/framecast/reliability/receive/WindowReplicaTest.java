package io.framecast.reliability.receive;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.window.PayloadChecksum;
import io.framecast.reliability.window.ReceiveWindow;
import io.framecast.reliability.window.RepairStore;
import io.framecast.reliability.window.SlotGuards;
import io.framecast.reliability.window.WindowMemory;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.CreditWord;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.LaneAddresses;
import io.framecast.reliability.wire.NackLayout;
import io.framecast.reliability.wire.RcConnectLayout;
import io.framecast.reliability.wire.RemotePlace;
import io.framecast.reliability.wire.RepairGroupLayout;
import io.framecast.reliability.wire.SlotGuard;
import io.framecast.reliability.wire.StreamInfo;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// A co-root whose source writes into its replica of the window, and a source that writes wrongly.
final class WindowReplicaTest implements CoRootOutput, ReceiverOutput {
    private static final long SESSION = 77;
    private static final long OWN_ID = 9;
    private static final int OBEYED = 4;
    private static final int SLOTS = 64;
    private static final int SLOT_BYTES = 64;
    private static final int MEMBER = 20;
    private static final long MS = 1_000_000;

    private final List<String> repairs = new ArrayList<>();
    private final List<Integer> asked = new ArrayList<>();
    private final HeaderChecksum checksum = new HeaderChecksum();
    private final MemorySegment control = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
    private final MemorySegment datagram = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
    private final MemorySegment headers = MemorySegment.ofArray(new byte[SLOTS * DataLayout.LENGTH]);
    private final MemorySegment payloads = MemorySegment.ofArray(new byte[SLOTS * SLOT_BYTES]);
    private final Counts<ReceiverCount> counts = new Counts<>(ReceiverCount.class);
    private final ReceiveWindow window = new ReceiveWindow(256);
    private final MemorySegment guards = MemorySegment.ofArray(new long[SLOTS]);
    private final int[] lengths = new int[SLOTS];
    private final RepairStore store = new RepairStore(new WindowMemory(headers, payloads, lengths, SLOTS, SLOT_BYTES))
            .guardedBy(
                    new SlotGuards(guards, new WindowMemory(MemorySegment.NULL, payloads, lengths, SLOTS, SLOT_BYTES)));
    private final CoRoot coRoot =
            new CoRoot(new ControlWriter(SESSION), this, this, counts, window, new SourceWatch(5_000 * MS), store);
    private final StreamInfo stream =
            new StreamInfo(SESSION, "cam", SLOT_BYTES, SLOTS, 1 << 20, 5_000, new byte[] {1}, new byte[] {2});
    private final WindowReplica fed = new WindowReplica(
            coRoot,
            this,
            counts,
            window,
            this,
            new WindowReplica.Terms(new ControlWriter(SESSION).receiver(OWN_ID).epoch(OBEYED)),
            new HeaderCheck(stream));
    private @Nullable EndpointOffer copy = EndpointOffer.ofCopy(
            new RemotePlace(8, 1), new RemotePlace(64, 2), new RemotePlace(128, 3), new RemotePlace(8, 4));
    private long word;
    private int term = 1;
    private long nowNs;

    private void tick(final long ns) {
        nowNs += ns;
        fed.onTick(true, nowNs);
    }

    // The source writes a datagram of a one-datagram frame correctly.
    private void write(final long sequence, final int bytes) {
        final long at = sequence % SLOTS * DataLayout.LENGTH;
        final DataHeader header =
                new DataHeader().session(DataLayout.TYPE_DATA, SESSION).frame(sequence, bytes, 0);
        DataLayout.write(headers, at, header, sequence, 0);
        checksum.seal(headers, at, SESSION);
        payloads.asSlice(sequence % SLOTS * SLOT_BYTES, bytes).fill((byte) sequence);
        final int crc = new PayloadChecksum(payloads, SLOTS, SLOT_BYTES).of((int) sequence % SLOTS, bytes);
        guards.setAtIndex(ValueLayout.JAVA_LONG, sequence % SLOTS, SlotGuard.of(sequence, crc));
    }

    private void confirm(final long end) {
        word = CreditWord.of(term, end);
        tick(MS);
    }

    private void nack(final long first, final int count) {
        NackLayout.range(datagram, false, 0, first, count);
        NackLayout.write(new ControlWriter(SESSION).receiver(MEMBER).in(datagram), 1);
        coRoot.onReport(datagram, 0, nowNs);
        coRoot.onTick(nowNs);
    }

    private void serve() {
        RepairGroupLayout.member(datagram, 0, MEMBER, OBEYED, new LaneAddresses(new byte[] {1}, new byte[] {2}));
        RepairGroupLayout.write(
                new ControlWriter(SESSION).receiver(OWN_ID).epoch(OBEYED).in(datagram), 0, 1);
        coRoot.onSet(datagram, 0, 0);
    }

    @Test
    void shouldTellWhereItsCopyIsUntilTheWordShowsThatItWasHeard() {
        tick(0);
        assertEquals(List.of(1), asked);
        tick(19 * MS);
        assertEquals(1, asked.size());
        tick(MS);
        tick(40 * MS);
        assertEquals(3, asked.size());
        confirm(5);
        tick(1_000 * MS);
        assertEquals(3, asked.size());
    }

    @Test
    void shouldWaitForItsCopyToBeOpenToTheSource() {
        final EndpointOffer later = copy;
        copy = null;
        for (int i = 0; i < 10; i++) {
            tick(500 * MS);
        }
        assertEquals(List.of(), asked);
        copy = later;
        tick(500 * MS);
        assertEquals(1, asked.size());
    }

    @Test
    void shouldGiveUpASourceThatDoesNotAnswer() {
        for (int i = 0; i < 100; i++) {
            tick(500 * MS);
        }
        assertEquals(20, asked.size());
        assertEquals(1, counts.get(ReceiverCount.FEED_FAILURES));
        assertEquals(Long.MAX_VALUE, fed.nextDeadlineNs());
        confirm(3);
        assertTrue(store.wants(4), "it goes on keeping its copy itself");
    }

    @Test
    void shouldGiveUpASourceThatAnswersAndWritesNothing() {
        window.receive(4);
        for (int i = 0; i < 2_000 && counts.get(ReceiverCount.FEED_FAILURES) == 0; i++) {
            tick(64 * MS);
            if (!asked.isEmpty() && asked.getLast() >= term) {
                term = asked.getLast();
                confirm(0);
                term++;
            }
        }
        assertEquals(20, asked.size());
        assertEquals(1, counts.get(ReceiverCount.FEED_FAILURES));
        assertTrue(store.wants(9), "it goes on keeping its replica itself");
    }

    @Test
    void shouldCopyNothingOfWhatTheSourceWrites() {
        assertTrue(store.wants(0));
        tick(0);
        assertTrue(store.wants(0), "the source has not answered yet");
        confirm(5);
        assertTrue(store.wants(4) && !store.wants(5) && !store.wants(6));
        write(5, 40);
        write(6, SLOT_BYTES);
        confirm(7);
        assertTrue(store.holds(5) && store.holds(6) && !store.holds(7));
        assertEquals(40, store.payloadBytes(5));
        assertArrayEquals(new byte[] {5, 5}, Arrays.copyOf(tail(store.datagram(5)), 2));
        assertFalse(store.wants(5));
        assertEquals(2, counts.get(ReceiverCount.FED_DATAGRAMS));
    }

    private static byte[] tail(final byte[] bytes) {
        return Arrays.copyOfRange(bytes, DataLayout.LENGTH, bytes.length);
    }

    @Test
    void shouldRepairWithWhatWasWritten() {
        serve();
        tick(0);
        confirm(0);
        nack(0, 2);
        assertEquals(List.of(), repairs);
        write(0, SLOT_BYTES);
        write(1, SLOT_BYTES);
        confirm(2);
        coRoot.onTick(nowNs);
        assertEquals(List.of("0 + 2"), repairs);
    }

    @Test
    void shouldCopyItselfAgainWhenTheLinkIsGone() {
        tick(0);
        confirm(0);
        assertFalse(store.wants(9));
        fed.onTick(false, nowNs);
        assertTrue(store.wants(9));
        write(0, SLOT_BYTES);
        confirm(1);
        assertFalse(store.holds(0), "a word that comes late counts for nothing");
    }

    @Test
    void shouldNotTakeAnotherEpochsWord() {
        tick(0);
        term = 2;
        confirm(3);
        assertTrue(store.wants(3));
    }

    @Test
    void shouldTakeOnlyWhatIsSoundAndOfItsSlot() {
        tick(0);
        confirm(0);
        write(0, SLOT_BYTES);
        write(1, SLOT_BYTES);
        headers.set(ValueLayout.JAVA_LONG_UNALIGNED, DataLayout.LENGTH + 16, 99);
        write(2 + SLOTS, SLOT_BYTES);
        write(3, SLOT_BYTES);
        headers.set(ValueLayout.JAVA_INT_UNALIGNED, 3 * DataLayout.LENGTH + 8, 5);
        confirm(5);
        assertTrue(store.holds(0));
        assertFalse(store.holds(1) || store.holds(2) || store.holds(3) || store.holds(4));
        assertEquals(4, counts.get(ReceiverCount.VAIN_FEEDS));
        assertTrue(store.wants(1), "what it has itself it keeps");
    }

    @Test
    void shouldCountWhatWasOverwrittenBeforeItLooked() {
        tick(0);
        confirm(0);
        for (int s = 0; s < SLOTS + 3; s++) {
            write(s, SLOT_BYTES);
        }
        confirm(SLOTS + 3);
        assertEquals(3, counts.get(ReceiverCount.LATE_FEEDS));
        assertEquals(SLOTS, counts.get(ReceiverCount.FED_DATAGRAMS));
        assertEquals(0, counts.get(ReceiverCount.VAIN_FEEDS));
        assertFalse(store.holds(2));
        assertTrue(store.holds(3));
    }

    @Test
    void shouldDoLittleWhenTheWordLies() {
        tick(0);
        confirm(10);
        confirm(1L << 46);
        assertTrue(counts.get(ReceiverCount.VAIN_FEEDS) <= SLOTS, counts.get(ReceiverCount.VAIN_FEEDS) + " looked at");
        confirm(3);
        assertFalse(store.holds(3));
        final long before = counts.get(ReceiverCount.VAIN_FEEDS);
        confirm(1);
        assertEquals(before, counts.get(ReceiverCount.VAIN_FEEDS), "a word that moves back counts nothing");
    }

    @Test
    void shouldTakeALongRunInTurns() {
        tick(0);
        confirm(0);
        final int most = WindowReplica.TAKEN_PER_TURN_MAX;
        assertTrue(most >= SLOTS);
        for (int s = 0; s < SLOTS; s++) {
            write(s, SLOT_BYTES);
        }
        confirm(SLOTS);
        assertEquals(SLOTS, counts.get(ReceiverCount.FED_DATAGRAMS));
    }

    @Test
    void shouldLookForWhatIsOnItsWayAndLessAndLessOften() {
        tick(0);
        confirm(0);
        tick(MS);
        assertEquals(Long.MAX_VALUE, fed.nextDeadlineNs());
        window.receive(4);
        tick(MS);
        assertEquals(nowNs + MS, fed.nextDeadlineNs());
        tick(MS);
        assertEquals(nowNs + 2 * MS, fed.nextDeadlineNs());
        for (int i = 0; i < 6; i++) {
            tick(100 * MS);
        }
        assertEquals(nowNs + 64 * MS, fed.nextDeadlineNs());
    }

    /// The source may have begun another group with this co-root, or lost its end of the connection.
    @Test
    void shouldAskAnewWhenTheWordStandsStillWhileOthersBringMore() {
        tick(0);
        confirm(0);
        window.receive(4);
        for (int i = 0; i < 10; i++) {
            tick(64 * MS);
        }
        assertFalse(store.wants(9), "it may come yet");
        for (int i = 0; i < 10; i++) {
            tick(64 * MS);
        }
        assertEquals(List.of(1, 2), asked.subList(0, 2));
        assertTrue(store.wants(9));
        confirm(7);
        assertTrue(store.wants(9), "the old word counts for nothing");
        term = 2;
        confirm(7);
        assertFalse(store.wants(9));
    }

    @Test
    void shouldNotHoldAPayloadThatTheSourceDoesNotVouchFor() {
        serve();
        tick(0);
        confirm(0);
        write(0, SLOT_BYTES);
        write(1, SLOT_BYTES);
        write(2, SLOT_BYTES);
        payloads.set(ValueLayout.JAVA_BYTE, SLOT_BYTES + 60, (byte) 99);
        guards.setAtIndex(ValueLayout.JAVA_LONG, 2, SlotGuard.NONE);
        confirm(3);
        assertTrue(store.holds(0));
        assertFalse(store.holds(1) || store.holds(2));
        assertEquals(2, counts.get(ReceiverCount.VAIN_FEEDS));
        nack(1, 2);
        assertEquals(List.of(), repairs);
    }

    @Override
    public @Nullable EndpointOffer replicaOffer() {
        return copy;
    }

    @Override
    public long feedWord() {
        return word;
    }

    @Override
    public MemorySegment control() {
        return control;
    }

    // To the source.
    @Override
    public void sendControl(final int bytes) {
        assertTrue(RcConnectLayout.isValidCopy(control, 0));
        assertEquals(OBEYED, ControlLayout.EPOCH.get(control, 0));
        assertEquals(64, RcConnectLayout.offer(control, 0).headers().address());
        asked.add(RcConnectLayout.EPOCH.get(control, 0));
    }

    @Override
    public RepairStore openStore() {
        return store;
    }

    @Override
    public boolean connect(final int member, final LaneAddresses addresses) {
        return true;
    }

    @Override
    public void disconnect(final int member) {}

    @Override
    public void sendControl(final int member, final int bytes) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int repair(final int member, final long firstSequence, final int count) {
        repairs.add(firstSequence + " + " + count);
        return count;
    }
}
