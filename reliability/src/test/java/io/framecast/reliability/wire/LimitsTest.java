package io.framecast.reliability.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.wire.LeaveLayout.Reason;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/// The last value that a field may have, and the first that it may not.
final class LimitsTest {
    private static final long MUCH = Wire.SEQUENCE_MAX;

    /// A type's own check of a datagram.
    private interface Check {
        boolean isValid(MemorySegment datagram, long offset);
    }

    private final HeaderChecksum checksum = new HeaderChecksum();
    private final ControlWriter ids = new ControlWriter(5).receiver(6).epoch(3);
    private final MemorySegment scratch = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX + 1]);

    private void assertInts(final Check check, final int at, final int[] good, final int... bad) {
        final int before = Wire.getInt(scratch, at);
        for (final int value : good) {
            Wire.setInt(scratch, at, value);
            assertTrue(check.isValid(scratch, 0), () -> "" + value);
        }
        for (final int value : bad) {
            Wire.setInt(scratch, at, value);
            assertFalse(check.isValid(scratch, 0), () -> "" + value);
        }
        Wire.setInt(scratch, at, before);
    }

    private void assertLongs(final Check check, final int at, final long[] good, final long... bad) {
        final long before = Wire.getLong(scratch, at);
        for (final long value : good) {
            Wire.setLong(scratch, at, value);
            assertTrue(check.isValid(scratch, 0), () -> "" + value);
        }
        for (final long value : bad) {
            Wire.setLong(scratch, at, value);
            assertFalse(check.isValid(scratch, 0), () -> "" + value);
        }
        Wire.setLong(scratch, at, before);
    }

    private void assertAddress(final Check check, final int at) {
        final byte before = scratch.get(JAVA_BYTE, at);
        for (final int length : new int[] {0, 1, Wire.ADDRESS_BYTES_MAX, Wire.ADDRESS_BYTES_MAX + 1, 255}) {
            scratch.set(JAVA_BYTE, at, (byte) length);
            assertEquals(length >= 1 && length <= Wire.ADDRESS_BYTES_MAX, check.isValid(scratch, 0), () -> "" + length);
        }
        scratch.set(JAVA_BYTE, at, before);
    }

    private static int[] ints(final int... values) {
        return values;
    }

    private static long[] longs(final long... values) {
        return values;
    }

    private void heartbeat(final int channelBytes) {
        final StreamInfo info =
                new StreamInfo(5, "x".repeat(channelBytes), 64, 16, 1000, 500, new byte[] {1}, new byte[] {2});
        final HeartbeatValues values = new HeartbeatValues()
                .clock(123_456)
                .progress(77, 5)
                .repairable(70)
                .timing(1, 1L << 40, 1);
        HeartbeatLayout.write(ids.in(scratch), 0, info, info.channel().getBytes(StandardCharsets.US_ASCII), values);
    }

    @Test
    void shouldTakeHeartbeatsUpToTheirLimits() {
        heartbeat(4);
        assertEquals(123_456, HeartbeatLayout.CLOCK.get(scratch, 0));
        assertEquals(70, HeartbeatLayout.REPAIRABLE.unsigned(scratch, 0));
        assertEquals(0xffff_ffffL, HeartbeatLayout.RTT.unsigned(scratch, 0));
        final Check check = HeartbeatLayout::isValid;
        assertInts(check, HeartbeatLayout.SLOT_BYTES.at(), ints(64, 65_472), 0, -64, 65, 65_536);
        assertInts(check, HeartbeatLayout.WINDOW_SLOTS.at(), ints(1, 1 << 22), 0, -1, (1 << 22) + 1);
        assertLongs(check, HeartbeatLayout.FRAME_MAX.at(), longs(1, (1L << 32) - 1), 0, -1, 1L << 32);
        assertInts(check, HeartbeatLayout.ALIVE_TIMEOUT.at(), ints(1), 0, -1);
        assertInts(check, HeartbeatLayout.REPAIRABLE.at(), ints(0, 77), 78, -1);
        assertAddress(check, HeartbeatLayout.CONTROL_ADDRESS.at());
        assertAddress(check, HeartbeatLayout.DATA_ADDRESS.at());
        Wire.setInt(scratch, HeartbeatLayout.REPAIRABLE.at(), 0);
        assertLongs(check, HeartbeatLayout.NEXT_SEQUENCE.at(), longs(0, MUCH), -1, MUCH + 1);
    }

    @Test
    void shouldTakeNamesOfChannelsUpToTheirLongest() {
        for (final int bytes : new int[] {0, 1, 64, 65}) {
            heartbeat(bytes);
            assertEquals(bytes == 1 || bytes == 64, HeartbeatLayout.isValid(scratch, 0), () -> bytes + " bytes");
        }
    }

    private void join(final boolean serves) {
        final LaneAddresses addresses = new LaneAddresses(new byte[] {1}, new byte[] {2});
        final JoinLayout.Terms terms =
                new JoinLayout.Terms(9, Delivery.LATEST, 3, addresses, new CoRootOffer(7, serves));
        JoinLayout.write(ids.in(scratch), terms);
    }

    @Test
    void shouldTakeJoinsUpToTheirLimits() {
        join(false);
        assertFalse(JoinLayout.terms(scratch, 0).offer().serves());
        join(true);
        assertTrue(JoinLayout.terms(scratch, 0).offer().serves());
        final Check check = JoinLayout::isValid;
        assertLongs(check, ControlLayout.RECEIVER.at(), longs(1, -1), 0);
        assertInts(check, JoinLayout.RING_SLOTS.at(), ints(1), 0, -1);
        assertInts(
                check,
                JoinLayout.DELIVERY.at(),
                ints(0, 1 << 16 | 1, 2, 1 << 16 | 3, -1 << 16 | 1),
                1,
                3,
                4,
                1 << 16,
                5 << 16 | 2,
                1 << 16 | 4,
                0x8001);
        assertAddress(check, JoinLayout.CONTROL_ADDRESS.at());
        assertAddress(check, JoinLayout.REPAIR_ADDRESS.at());
    }

    @Test
    void shouldHaveAPatienceWhereItMeansSomething() {
        assertEquals(1, Delivery.deadline(1).patienceMs());
        assertEquals(
                Delivery.PATIENCE_MAX_MS,
                Delivery.evict(Delivery.PATIENCE_MAX_MS).patienceMs());
        assertThrows(IllegalArgumentException.class, () -> Delivery.deadline(0));
        assertThrows(IllegalArgumentException.class, () -> Delivery.evict(Delivery.PATIENCE_MAX_MS + 1));
        assertThrows(IllegalArgumentException.class, () -> new Delivery(Delivery.Kind.RELIABLE, 1));
        assertThrows(IllegalArgumentException.class, () -> new Delivery(Delivery.Kind.LATEST, -1));
    }

    @Test
    void shouldTakeAdmissionsUpToTheirLimits() {
        AdmitLayout.writeReady(ids.in(scratch), 42, 7, 0);
        assertInts(AdmitLayout::isValid, AdmitLayout.GRANT_SLOTS.at(), ints(0, Integer.MAX_VALUE), -1);
        assertLongs(AdmitLayout::isValid, ControlLayout.RECEIVER.at(), longs(1), 0);
        StartLayout.write(ids.in(scratch), 0, 0, 0);
        assertLongs(StartLayout::isValid, StartLayout.FIRST_SEQUENCE.at(), longs(0, MUCH), -1, MUCH + 1);
        assertLongs(StartLayout::isValid, StartLayout.FIRST_FRAME_ID.at(), longs(0, Long.MAX_VALUE), -1);
    }

    @Test
    void shouldTakeAcksUpToTheirLimits() {
        AckLayout.write(ids.in(scratch), new AckValues().progress(5, 5, 5).echo(0, 1L << 40));
        assertEquals(0xffff_ffffL, AckLayout.ECHO_DELAY.unsigned(scratch, 0));
        assertLongs(AckLayout::isValid, AckLayout.ACKNOWLEDGED.at(), longs(0, 5), -1, 6);
        assertLongs(AckLayout::isValid, AckLayout.GRANT.at(), longs(5), 4);
        assertLongs(AckLayout::isValid, AckLayout.HIGHEST.at(), longs(5), 4);
    }

    @Test
    void shouldSayOfAnAckWhatItWasMadeFor() {
        final AckValues values = new AckValues().progress(5, 100, 7);
        assertEquals(5, values.acknowledged());
        assertEquals(100, values.grant());
        assertEquals(7, values.highest());
        assertFalse(values.isComplete());
        assertFalse(values.aggregate(4, 77).isComplete());
        assertTrue(values.complete(true).isComplete());
        values.single();
        assertTrue(values.isComplete());
        AckLayout.write(ids.in(scratch), values);
        assertFalse(AckLayout.isAggregate(scratch, 0));
        assertTrue(AckLayout.isComplete(scratch, 0));
        assertEquals(0, AckLayout.COVERED.get(scratch, 0));
        assertEquals(AckLayout.LENGTH, ControlLayout.DATAGRAM_BYTES.get(scratch, 0));
        assertFalse(values.complete(false).isComplete());
    }

    @Test
    void shouldTakeRangesUpToTheirLimits() {
        NackLayout.range(scratch, false, 0, 0, 5);
        NackLayout.range(scratch, false, 1, 5, 1);
        NackLayout.write(ids.in(scratch), 2);
        final Check check = NackLayout::isValid;
        final int first = NackLayout.FIRST_RANGE + NackLayout.RANGE_BYTES;
        assertLongs(check, first, longs(5, Long.MAX_VALUE - 1), 4, -1, Long.MAX_VALUE);
        assertInts(check, first + 8, ints(1, Integer.MAX_VALUE), 0, -1);
        assertInts(check, NackLayout.RANGES, ints(2), 0, 1, 3, -1, Integer.MIN_VALUE);
    }

    @Test
    void shouldTakeMetadataUpToTheLongest() {
        for (final int bytes : new int[] {0, 1, FrameLayout.METADATA_BYTES_MAX, FrameLayout.METADATA_BYTES_MAX + 1}) {
            FrameLayout.write(ids.in(scratch), 0, new byte[bytes]);
            assertEquals(bytes == 1 || bytes == FrameLayout.METADATA_BYTES_MAX, FrameLayout.isValid(scratch, 0));
        }
        FrameLayout.write(ids.in(scratch), 0, new byte[1]);
        assertLongs(FrameLayout::isValid, FrameLayout.FIRST_SEQUENCE.at(), longs(0, Long.MAX_VALUE), -1);
        FrameLayout.writeRequest(ids.in(scratch), 0);
        assertLongs(FrameLayout::isValidRequest, FrameLayout.FIRST_SEQUENCE.at(), longs(0, Long.MAX_VALUE), -1);
    }

    @Test
    void shouldTakeReasonsThatAreKnown() {
        for (final Reason reason : Reason.values()) {
            LeaveLayout.writeEvict(ids.in(scratch), reason);
            assertTrue(LeaveLayout.isValid(scratch, 0));
            assertEquals(reason, LeaveLayout.reason(scratch, 0));
        }
        for (final int code : new int[] {Reason.values().length, 128, 255}) {
            scratch.set(JAVA_BYTE, LeaveLayout.REASON.at(), (byte) code);
            assertFalse(LeaveLayout.isValid(scratch, 0));
        }
    }

    @Test
    void shouldTakeAssignmentsUpToTheirLimits() {
        AssignLayout.write(ids.in(scratch), 55, new byte[] {6});
        final Check check = AssignLayout::isValid;
        assertLongs(check, ControlLayout.RECEIVER.at(), longs(1), 0);
        assertInts(check, ControlLayout.EPOCH.at(), ints(1), 0, -1);
        assertAddress(check, AssignLayout.ADDRESS.at());
        assertLongs(check, AssignLayout.CO_ROOT.at(), longs(0, 1));
        AssignLayout.writeDirect(ids.in(scratch));
        assertLongs(check, AssignLayout.CO_ROOT.at(), longs(0), 1);
    }

    private void set(final int part, final int total) {
        for (int i = 0; i < RepairGroupLayout.MEMBERS_PER_PART; i++) {
            RepairGroupLayout.member(scratch, i, 10 + i, 2, new LaneAddresses(new byte[] {1}, new byte[] {2}));
        }
        RepairGroupLayout.write(ids.in(scratch), part, total);
    }

    private void assertPart(final boolean valid, final int part, final int parts) {
        Wire.setShort(scratch, RepairGroupLayout.PART.at(), (short) part);
        Wire.setShort(scratch, RepairGroupLayout.PARTS.at(), (short) parts);
        assertEquals(valid, RepairGroupLayout.isValid(scratch, 0), () -> part + " of " + parts);
    }

    @Test
    void shouldTakeListsUpToTheirLimits() {
        final Check check = RepairGroupLayout::isValid;
        set(0, 0);
        assertEquals(RepairGroupLayout.FIRST, ControlLayout.DATAGRAM_BYTES.get(scratch, 0));
        assertTrue(RepairGroupLayout.isValid(scratch, 0));
        set(0, 2);
        assertLongs(check, ControlLayout.RECEIVER.at(), longs(1), 0);
        assertInts(check, ControlLayout.EPOCH.at(), ints(1), 0, -1);
        assertInts(check, RepairGroupLayout.MEMBERS.at(), ints(2), 0, 1, 3, -1);
        final int second = RepairGroupLayout.FIRST + RepairGroupLayout.MEMBER_BYTES;
        assertLongs(check, second, longs(1, -1), 0);
        assertAddress(check, second + RepairGroupLayout.CONTROL.at());
        assertAddress(check, second + RepairGroupLayout.REPAIR.at());
    }

    @Test
    void shouldTakePartsThatAddUpToASet() {
        assertEquals(5, RepairGroupLayout.PARTS_MAX);
        assertEquals(1, RepairGroupLayout.partsOf(RepairGroupLayout.MEMBERS_PER_PART));
        assertEquals(2, RepairGroupLayout.partsOf(RepairGroupLayout.MEMBERS_PER_PART + 1));
        assertEquals(2, RepairGroupLayout.partsOf(2 * RepairGroupLayout.MEMBERS_PER_PART));
        set(0, 2);
        assertPart(true, 0, 1);
        assertPart(true, 4, 5);
        assertPart(false, 0, 0);
        assertPart(false, 1, 1);
        assertPart(false, 5, 5);
        assertPart(false, 0, 6);
        // Only the last is not full.
        assertPart(false, 0, 2);
        assertPart(true, 1, 2);
        // An empty one is the only one.
        set(0, 0);
        assertPart(true, 0, 1);
        assertPart(false, 1, 2);
        // The last of a full set has seven.
        set(4, RepairGroupLayout.MEMBERS_MAX);
        assertTrue(RepairGroupLayout.isValid(scratch, 0));
        set(4, RepairGroupLayout.MEMBERS_MAX + 1);
        assertFalse(RepairGroupLayout.isValid(scratch, 0));
        set(3, RepairGroupLayout.MEMBERS_MAX);
        assertTrue(RepairGroupLayout.isValid(scratch, 0));
    }

    @Test
    void shouldTakeNoControlDatagramThatIsLongerThanTheLongest() {
        for (final int bytes : new int[] {ControlLayout.LENGTH, Wire.CONTROL_BYTES_MAX}) {
            ids.in(scratch).begin(ControlLayout.TYPE_ACK, 0).seal(bytes);
            assertEquals(Verdict.GOOD, ControlLayout.check(scratch, 0, bytes, checksum));
        }
        for (final int bytes : new int[] {0, ControlLayout.LENGTH - 1, Wire.CONTROL_BYTES_MAX + 1}) {
            Wire.setShort(scratch, ControlLayout.DATAGRAM_BYTES.at(), (short) bytes);
            assertEquals(Verdict.BAD_LENGTH, ControlLayout.check(scratch, 0, bytes, checksum));
        }
    }

    @Test
    void shouldHoldSoManyFramesInASlot() {
        assertEquals(1, BundleLayout.framesMax(64));
        assertEquals(2, BundleLayout.framesMax(128));
        assertEquals(20, BundleLayout.framesMax(1408));
        assertEquals(BundleLayout.FRAMES_MAX, BundleLayout.framesMax(65_472));
    }
}
