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
    private final ControlIds ids = new ControlIds(5).receiver(6).epoch(3);
    private final MemorySegment scratch = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX + 1]);

    private void assertInts(final Check check, final int at, final int[] good, final int... bad) {
        final int before = scratch.get(Wire.INT, at);
        for (final int value : good) {
            scratch.set(Wire.INT, at, value);
            assertTrue(check.isValid(scratch, 0), () -> "" + value);
        }
        for (final int value : bad) {
            scratch.set(Wire.INT, at, value);
            assertFalse(check.isValid(scratch, 0), () -> "" + value);
        }
        scratch.set(Wire.INT, at, before);
    }

    private void assertLongs(final Check check, final int at, final long[] good, final long... bad) {
        final long before = scratch.get(Wire.LONG, at);
        for (final long value : good) {
            scratch.set(Wire.LONG, at, value);
            assertTrue(check.isValid(scratch, 0), () -> "" + value);
        }
        for (final long value : bad) {
            scratch.set(Wire.LONG, at, value);
            assertFalse(check.isValid(scratch, 0), () -> "" + value);
        }
        scratch.set(Wire.LONG, at, before);
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
        final int length =
                HeartbeatLayout.writeInfo(scratch, info, info.channel().getBytes(StandardCharsets.US_ASCII));
        final HeartbeatValues values = new HeartbeatValues(ids)
                .clock(123_456)
                .progress(77, 5)
                .repairable(70)
                .timing(1, 1L << 40, 1);
        HeartbeatLayout.write(scratch, length, 0, values, checksum);
    }

    @Test
    void shouldTakeHeartbeatsUpToTheirLimits() {
        heartbeat(4);
        assertEquals(123_456, HeartbeatLayout.clockNs(scratch, 0));
        assertEquals(70, HeartbeatLayout.repairable(scratch, 0));
        assertEquals(0xffff_ffffL, HeartbeatLayout.rttNs(scratch, 0));
        final Check check = HeartbeatLayout::isValid;
        assertInts(check, HeartbeatLayout.SLOT_BYTES, ints(64, 65_472), 0, -64, 65, 65_536);
        assertInts(check, HeartbeatLayout.WINDOW_SLOTS, ints(1, 1 << 22), 0, -1, (1 << 22) + 1);
        assertLongs(check, HeartbeatLayout.FRAME_MAX, longs(1, (1L << 32) - 1), 0, -1, 1L << 32);
        assertInts(check, HeartbeatLayout.ALIVE_TIMEOUT, ints(1), 0, -1);
        assertInts(check, HeartbeatLayout.REPAIRABLE, ints(0, 77), 78, -1);
        assertAddress(check, HeartbeatLayout.CONTROL_ADDRESS);
        assertAddress(check, HeartbeatLayout.DATA_ADDRESS);
        scratch.set(Wire.INT, HeartbeatLayout.REPAIRABLE, 0);
        assertLongs(check, HeartbeatLayout.NEXT_SEQUENCE, longs(0, MUCH), -1, MUCH + 1);
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
        final JoinLayout.Terms terms = new JoinLayout.Terms(9, Delivery.LATEST, addresses, new CoRootOffer(7, serves));
        JoinLayout.write(scratch, ids, terms, checksum);
    }

    @Test
    void shouldTakeJoinsUpToTheirLimits() {
        join(false);
        assertFalse(JoinLayout.terms(scratch, 0).offer().serves());
        join(true);
        assertTrue(JoinLayout.terms(scratch, 0).offer().serves());
        final Check check = JoinLayout::isValid;
        assertLongs(check, ControlLayout.RECEIVER, longs(1, -1), 0);
        assertInts(check, JoinLayout.RING_SLOTS, ints(1), 0, -1);
        assertInts(
                check,
                JoinLayout.DELIVERY,
                ints(0, 1 << 16 | 1, 2, 1 << 16 | 3, -1 << 16 | 1),
                1,
                3,
                4,
                1 << 16,
                5 << 16 | 2,
                1 << 16 | 4,
                0x8001);
        assertAddress(check, JoinLayout.CONTROL_ADDRESS);
        assertAddress(check, JoinLayout.REPAIR_ADDRESS);
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
        AdmitLayout.writeReady(scratch, ids, 42, 0, checksum);
        assertInts(AdmitLayout::isValid, AdmitLayout.GRANT_SLOTS, ints(0, Integer.MAX_VALUE), -1);
        assertLongs(AdmitLayout::isValid, ControlLayout.RECEIVER, longs(1), 0);
        StartLayout.write(scratch, ids, 0, 0, checksum);
        assertLongs(StartLayout::isValid, StartLayout.FIRST_SEQUENCE, longs(0, MUCH), -1, MUCH + 1);
        assertLongs(StartLayout::isValid, StartLayout.FIRST_FRAME_ID, longs(0, Long.MAX_VALUE), -1);
    }

    @Test
    void shouldTakeAcksUpToTheirLimits() {
        AckLayout.write(scratch, ids, new AckValues().progress(5, 5, 5).echo(0, 1L << 40), checksum);
        assertEquals(0xffff_ffffL, AckLayout.echoDelayNs(scratch, 0));
        assertLongs(AckLayout::isValid, AckLayout.ACKNOWLEDGED, longs(0, 5), -1, 6);
        assertLongs(AckLayout::isValid, AckLayout.GRANT, longs(5), 4);
        assertLongs(AckLayout::isValid, AckLayout.HIGHEST, longs(5), 4);
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
        AckLayout.write(scratch, ids, values, checksum);
        assertFalse(AckLayout.isAggregate(scratch, 0));
        assertTrue(AckLayout.isComplete(scratch, 0));
        assertEquals(0, AckLayout.covered(scratch, 0));
        assertEquals(AckLayout.LENGTH, ControlLayout.bytes(scratch, 0));
        assertFalse(values.complete(false).isComplete());
    }

    @Test
    void shouldTakeRangesUpToTheirLimits() {
        NackLayout.range(scratch, false, 0, 0, 5);
        NackLayout.range(scratch, false, 1, 5, 1);
        NackLayout.write(scratch, ids, 2, checksum);
        final Check check = NackLayout::isValid;
        final int first = NackLayout.FIRST_RANGE + NackLayout.RANGE_BYTES;
        assertLongs(check, first, longs(5, Long.MAX_VALUE - 1), 4, -1, Long.MAX_VALUE);
        assertInts(check, first + 8, ints(1, Integer.MAX_VALUE), 0, -1);
        assertInts(check, NackLayout.RANGES, ints(2), 0, 1, 3, -1, Integer.MIN_VALUE);
    }

    @Test
    void shouldTakeMetadataUpToTheLongest() {
        for (final int bytes : new int[] {0, 1, FrameLayout.METADATA_BYTES_MAX, FrameLayout.METADATA_BYTES_MAX + 1}) {
            FrameLayout.write(scratch, ids, 0, new byte[bytes], checksum);
            assertEquals(bytes == 1 || bytes == FrameLayout.METADATA_BYTES_MAX, FrameLayout.isValid(scratch, 0));
        }
        FrameLayout.write(scratch, ids, 0, new byte[1], checksum);
        assertLongs(FrameLayout::isValid, FrameLayout.FIRST_SEQUENCE, longs(0, Long.MAX_VALUE), -1);
        FrameLayout.writeRequest(scratch, ids, 0, checksum);
        assertLongs(FrameLayout::isValidRequest, FrameLayout.FIRST_SEQUENCE, longs(0, Long.MAX_VALUE), -1);
    }

    @Test
    void shouldTakeReasonsThatAreKnown() {
        for (final Reason reason : Reason.values()) {
            LeaveLayout.writeEvict(scratch, ids, reason, checksum);
            assertTrue(LeaveLayout.isValid(scratch, 0));
            assertEquals(reason, LeaveLayout.reason(scratch, 0));
        }
        for (final int code : new int[] {Reason.values().length, 128, 255}) {
            scratch.set(JAVA_BYTE, LeaveLayout.REASON, (byte) code);
            assertFalse(LeaveLayout.isValid(scratch, 0));
        }
    }

    @Test
    void shouldTakeAssignmentsUpToTheirLimits() {
        AssignLayout.write(scratch, ids, 55, new byte[] {6}, checksum);
        final Check check = AssignLayout::isValid;
        assertLongs(check, ControlLayout.RECEIVER, longs(1), 0);
        assertInts(check, ControlLayout.EPOCH, ints(1), 0, -1);
        assertAddress(check, AssignLayout.ADDRESS);
        assertLongs(check, AssignLayout.CO_ROOT, longs(0, 1));
        AssignLayout.writeDirect(scratch, ids, checksum);
        assertLongs(check, AssignLayout.CO_ROOT, longs(0), 1);
    }

    private void set(final int part, final int total) {
        for (int i = 0; i < RepairGroupLayout.MEMBERS_PER_PART; i++) {
            RepairGroupLayout.member(scratch, i, 10 + i, 2, new LaneAddresses(new byte[] {1}, new byte[] {2}));
        }
        RepairGroupLayout.write(scratch, ids, part, total, checksum);
    }

    private void assertPart(final boolean valid, final int part, final int parts) {
        scratch.set(Wire.SHORT, RepairGroupLayout.PART, (short) part);
        scratch.set(Wire.SHORT, RepairGroupLayout.PARTS, (short) parts);
        assertEquals(valid, RepairGroupLayout.isValid(scratch, 0), () -> part + " of " + parts);
    }

    @Test
    void shouldTakeListsUpToTheirLimits() {
        final Check check = RepairGroupLayout::isValid;
        set(0, 0);
        assertEquals(RepairGroupLayout.FIRST, ControlLayout.bytes(scratch, 0));
        assertTrue(RepairGroupLayout.isValid(scratch, 0));
        set(0, 2);
        assertLongs(check, ControlLayout.RECEIVER, longs(1), 0);
        assertInts(check, ControlLayout.EPOCH, ints(1), 0, -1);
        assertInts(check, RepairGroupLayout.MEMBERS, ints(2), 0, 1, 3, -1);
        final int second = RepairGroupLayout.FIRST + RepairGroupLayout.MEMBER_BYTES;
        assertLongs(check, second, longs(1, -1), 0);
        assertAddress(check, second + RepairGroupLayout.CONTROL);
        assertAddress(check, second + RepairGroupLayout.REPAIR);
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
            ControlLayout.begin(scratch, ControlLayout.TYPE_ACK, 0, ids);
            ControlLayout.seal(scratch, bytes, checksum);
            assertEquals(Verdict.GOOD, ControlLayout.check(scratch, 0, bytes, checksum));
        }
        for (final int bytes : new int[] {0, ControlLayout.LENGTH - 1, Wire.CONTROL_BYTES_MAX + 1}) {
            scratch.set(Wire.SHORT, ControlLayout.DATAGRAM_BYTES, (short) bytes);
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
