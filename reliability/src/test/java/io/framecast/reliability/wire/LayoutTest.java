package io.framecast.reliability.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.wire.LeaveLayout.Reason;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class LayoutTest {
    private static final long SESSION = 0x0123_4567_89ab_cdefL;
    private static final long RECEIVER = 0x7777_0000_1111_2222L;
    private static final StreamInfo INFO = new StreamInfo(
            SESSION, "cam1", 1408, 4096, 6_220_800, 5_000, new byte[] {1, 2, 3, 4, 5, 6}, new byte[] {9});

    private final HeaderChecksum checksum = new HeaderChecksum();
    private ControlWriter ids = writer();
    private final MemorySegment scratch = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);

    // The memory's content before a datagram is written into it.
    private byte before;

    private static ControlWriter writer() {
        return new ControlWriter(SESSION).receiver(RECEIVER).epoch(3);
    }

    private MemorySegment exact(final int bytes) {
        final byte[] datagram = scratch.asSlice(0, bytes).toArray(JAVA_BYTE);
        scratch.fill(before);
        return MemorySegment.ofArray(datagram);
    }

    private Verdict check(final MemorySegment datagram) {
        return ControlLayout.check(datagram, 0, (int) datagram.byteSize(), checksum);
    }

    private MemorySegment heartbeat(final int flags) {
        final HeartbeatValues values = new HeartbeatValues().progress(77, 5).timing(123, 456, 7);
        return exact(HeartbeatLayout.write(
                ids.in(scratch), flags, INFO, INFO.channel().getBytes(StandardCharsets.US_ASCII), values));
    }

    List<MemorySegment> one() {
        final List<MemorySegment> all = new ArrayList<>();
        all.add(heartbeat(HeartbeatLayout.FLAG_ACK_REQUEST));
        all.add(exact(JoinLayout.write(
                ids.in(scratch),
                new JoinLayout.Terms(
                        99,
                        Delivery.deadline(40),
                        12,
                        new LaneAddresses(new byte[] {1}, new byte[] {2, 3}),
                        new CoRootOffer(7, true)))));
        all.add(exact(AdmitLayout.writeAdmit(ids.in(scratch), 42, 43)));
        all.add(exact(AdmitLayout.writeReady(ids.in(scratch), 42, 44, 10)));
        all.add(exact(StartLayout.write(ids.in(scratch), 1000, 10, 3)));
        final AckValues ack = new AckValues().progress(5, 100, 7).echo(1, 2).complete(true);
        all.add(exact(AckLayout.write(ids.in(scratch), ack)));
        NackLayout.range(scratch, false, 0, 5, 2);
        NackLayout.range(scratch, false, 1, 9, 1);
        all.add(exact(NackLayout.write(ids.in(scratch), 2)));
        all.add(exact(FrameLayout.write(ids.in(scratch), 8, new byte[] {4, 5})));
        all.add(exact(FrameLayout.writeRequest(ids.in(scratch), 8)));
        all.add(exact(LeaveLayout.writeLeave(ids.in(scratch), Reason.LEFT)));
        all.add(exact(LeaveLayout.writeEvict(ids.in(scratch), Reason.RING_TOO_SMALL)));
        final AckValues whole = new AckValues().progress(5, 100, 7).echo(1, 2).aggregate(4, 77);
        all.add(exact(AckLayout.write(ids.in(scratch), whole)));
        all.add(exact(AssignLayout.write(ids.in(scratch), 55, new byte[] {6, 7})));
        all.add(exact(AssignLayout.writeDirect(ids.in(scratch))));
        RepairGroupLayout.member(scratch, 0, 55, 2, new LaneAddresses(new byte[] {1}, new byte[] {2, 3}));
        RepairGroupLayout.member(scratch, 1, 56, 3, new LaneAddresses(new byte[] {4}, new byte[] {5}));
        all.add(exact(RepairGroupLayout.write(ids.in(scratch), 0, 2)));
        NackLayout.range(scratch, true, 0, 5, 2);
        NackLayout.range(scratch, true, 1, 9, 1);
        all.add(exact(NackLayout.write(ids.in(scratch), 2, ack.complete(false))));
        all.add(exact(JoinLayout.write(
                ids.in(scratch),
                new JoinLayout.Terms(
                        99,
                        Delivery.RELIABLE,
                        12,
                        new LaneAddresses(new byte[] {1}, new byte[] {2, 3}, new byte[] {9, 8, 7}),
                        new CoRootOffer(7, true)))));
        final EndpointOffer offer = new EndpointOffer(
                new byte[] {3, 1},
                new RemotePlace(4096, 5),
                new RemotePlace(77, 6),
                new RemotePlace(99, 7),
                new RemotePlace(800, 8));
        all.add(exact(RcConnectLayout.write(ids.in(scratch), 0xfffe, offer)));
        all.add(exact(SolicitLayout.write(ids.in(scratch), 123)));
        all.add(exact(PolicyLayout.write(ids.in(scratch), 1, Delivery.deadline(40), 7)));
        all.add(exact(ResumeLayout.write(
                ids.in(scratch),
                1000,
                new JoinLayout.Terms(
                        99,
                        Delivery.RELIABLE,
                        12,
                        new LaneAddresses(new byte[] {1}, new byte[] {2, 3}, new byte[] {9, 8, 7}),
                        new CoRootOffer(7, true)))));
        all.add(exact(FormatLayout.write(ids.in(scratch), 8, 3, 15, new byte[] {4, 5})));
        all.add(exact(FormatLayout.writeAck(ids.in(scratch), 3)));
        all.add(exact(FormatLayout.writeRequest(ids.in(scratch), 15)));
        return all;
    }

    private static boolean isValid(final MemorySegment datagram) {
        return switch (ControlLayout.type(datagram, 0)) {
            case ControlLayout.TYPE_HEARTBEAT -> HeartbeatLayout.isValid(datagram, 0);
            case ControlLayout.TYPE_JOIN -> JoinLayout.isValid(datagram, 0);
            case ControlLayout.TYPE_ADMIT, ControlLayout.TYPE_READY -> AdmitLayout.isValid(datagram, 0);
            case ControlLayout.TYPE_START -> StartLayout.isValid(datagram, 0);
            case ControlLayout.TYPE_ACK -> AckLayout.isValid(datagram, 0);
            case ControlLayout.TYPE_NACK -> NackLayout.isValid(datagram, 0);
            case ControlLayout.TYPE_FRAME -> FrameLayout.isValid(datagram, 0);
            case ControlLayout.TYPE_FRAME_REQUEST -> FrameLayout.isValidRequest(datagram, 0);
            case ControlLayout.TYPE_FORMAT -> FormatLayout.isValid(datagram, 0);
            case ControlLayout.TYPE_FORMAT_ACK -> FormatLayout.isValidAck(datagram, 0);
            case ControlLayout.TYPE_ASSIGN -> AssignLayout.isValid(datagram, 0);
            case ControlLayout.TYPE_RC_CONNECT -> RcConnectLayout.isValid(datagram, 0);
            case ControlLayout.TYPE_REPAIR_GROUP -> RepairGroupLayout.isValid(datagram, 0);
            case ControlLayout.TYPE_SOLICIT -> SolicitLayout.isValid(datagram, 0);
            case ControlLayout.TYPE_POLICY -> PolicyLayout.isValid(datagram, 0);
            case ControlLayout.TYPE_RESUME -> ResumeLayout.isValid(datagram, 0);
            case ControlLayout.TYPE_LEAVE, ControlLayout.TYPE_EVICT -> LeaveLayout.isValid(datagram, 0);
            default -> false;
        };
    }

    @Test
    void shouldAcceptWhatItWroteWhenUntouched() {
        for (final MemorySegment datagram : one()) {
            assertEquals(Verdict.GOOD, check(datagram));
            assertTrue(isValid(datagram));
            assertEquals(SESSION, ControlLayout.SESSION.get(datagram, 0));
            assertEquals(RECEIVER, ControlLayout.RECEIVER.get(datagram, 0));
            assertEquals(3, ControlLayout.EPOCH.get(datagram, 0));
        }
    }

    @Test
    void shouldRejectWhenAnyBitOfAControlDatagramFlips() {
        for (final MemorySegment datagram : one()) {
            for (int bit = 0; bit < 8 * datagram.byteSize(); bit++) {
                flip(datagram, bit);
                assertTrue(check(datagram).isRejection(), "bit " + bit);
                flip(datagram, bit);
            }
        }
    }

    @Test
    void shouldRejectWhenCutShortOrDrawnOut() {
        for (final MemorySegment datagram : one()) {
            for (int bytes = 0; bytes < datagram.byteSize(); bytes++) {
                assertTrue(check(datagram.asSlice(0, bytes)).isRejection());
            }
            final MemorySegment longer = MemorySegment.ofArray(new byte[(int) datagram.byteSize() + 1]);
            longer.copyFrom(datagram);
            assertEquals(Verdict.BAD_LENGTH, check(longer));
        }
    }

    @Test
    void shouldWriteEveryByteWhateverTheMemoryHeld() {
        final List<MemorySegment> expected = one();
        ids = writer();
        before = (byte) 0xff;
        scratch.fill(before);
        final List<MemorySegment> actual = one();
        for (int i = 0; i < expected.size(); i++) {
            assertArrayEquals(expected.get(i).toArray(JAVA_BYTE), actual.get(i).toArray(JAVA_BYTE), "datagram " + i);
        }
    }

    @Test
    void shouldRefuseWhenTheLengthIsNotThatOfTheContent() {
        for (final MemorySegment datagram : one()) {
            final int right = (int) datagram.byteSize();
            scratch.fill((byte) 0);
            scratch.asSlice(0, right).copyFrom(datagram);
            for (int bytes = ControlLayout.LENGTH; bytes < Math.min(right + 100, Wire.CONTROL_BYTES_MAX + 1); bytes++) {
                ids.in(scratch).seal(bytes);
                assertEquals(bytes == right, isValid(scratch), "type " + ControlLayout.type(datagram, 0));
            }
        }
    }

    @Test
    void shouldNeverReadBeyondTheDatagramWhenTheChecksumIsRightAndTheTypeIsNot() {
        final SplittableRandom random = new SplittableRandom(5);
        for (int round = 0; round < 20_000; round++) {
            final byte[] bytes = new byte[ControlLayout.LENGTH + random.nextInt(200)];
            random.nextBytes(bytes);
            final MemorySegment datagram = MemorySegment.ofArray(bytes);
            ControlLayout.begin(datagram, random.nextInt(20));
            ids.in(datagram).seal(bytes.length);
            assertEquals(Verdict.GOOD, check(datagram));
            isValid(datagram);
        }
    }

    @Test
    void shouldReadWhatALinkSaid() {
        final List<MemorySegment> all = one();
        final MemorySegment join = all.get(all.size() - 8);
        assertArrayEquals(
                new byte[] {9, 8, 7}, JoinLayout.terms(join, 0).addresses().link());
        assertEquals(0, JoinLayout.terms(all.get(1), 0).addresses().link().length);
        final MemorySegment link = all.get(all.size() - 7);
        assertEquals(0xfffe, RcConnectLayout.EPOCH.get(link, 0));
        final EndpointOffer offer = RcConnectLayout.offer(link, 0);
        assertArrayEquals(new byte[] {3, 1}, offer.descriptor());
        assertEquals(new RemotePlace(4096, 5), offer.word());
        assertEquals(new RemotePlace(77, 6), offer.headers());
        assertEquals(new RemotePlace(99, 7), offer.payload());
        assertEquals(new RemotePlace(800, 8), offer.guards());
        assertFalse(RcConnectLayout.isOfSet(link, 0));
    }

    @Test
    void shouldTellALinkOfASetByItsEpochAndNoWord() {
        final MemorySegment link = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
        final EndpointOffer offer = EndpointOffer.ofMember(new byte[] {1, 2});
        final ControlWriter member = new ControlWriter(7).receiver(5);
        RcConnectLayout.writeOfSet(member.epoch(3).in(link), offer);
        assertTrue(RcConnectLayout.isValid(link, 0) && RcConnectLayout.isOfSet(link, 0));
        assertEquals(RemotePlace.NONE, RcConnectLayout.offer(link, 0).guards());
        RcConnectLayout.writeOfSet(member.epoch(0).in(link), offer);
        assertFalse(RcConnectLayout.isValid(link, 0));
        RcConnectLayout.writeOfSet(member.epoch(3).in(link), offer);
        Wire.setShort(link, RcConnectLayout.EPOCH.at(), (short) 9);
        assertFalse(RcConnectLayout.isValid(link, 0));
        RcConnectLayout.write(member.in(link), 9, offer);
        Wire.setLong(link, RcConnectLayout.GUARDS.at(), 4);
        assertFalse(RcConnectLayout.isValid(link, 0));
    }

    @Test
    void shouldCountTheDatagramsOfASenderWhicheverWriterWroteThem() {
        final ControlWriter other = ids.another();
        for (int count = 1; count < 5; count++) {
            SolicitLayout.write((count % 2 == 0 ? ids : other).in(scratch), 0);
            assertEquals(count, ControlLayout.COUNTER.get(scratch, 0));
        }
    }

    @Test
    void shouldRefuseWhatItCannotReadYet() {
        final MemorySegment datagram = heartbeat(0);
        for (final int tag : new int[] {1, 16, 255}) {
            ControlLayout.TAG_BYTES.set(datagram, 0, tag);
            ids.in(datagram).seal((int) datagram.byteSize());
            assertEquals(Verdict.BAD_LENGTH, check(datagram));
        }
        ControlLayout.begin(datagram, ControlLayout.TYPE_HEARTBEAT);
        for (int kind = 0; kind < 16; kind++) {
            datagram.set(JAVA_BYTE, 0, (byte) Wire.versionAndType(kind));
            ids.in(datagram).seal((int) datagram.byteSize());
            assertEquals(kind == 3 ? Verdict.GOOD : Verdict.BAD_TYPE, check(datagram));
        }
        for (int version = 0; version < 16; version++) {
            datagram.set(JAVA_BYTE, 0, (byte) (version << 4 | 3));
            ids.in(datagram).seal((int) datagram.byteSize());
            assertEquals(version == 2 ? Verdict.GOOD : Verdict.BAD_VERSION, check(datagram));
            final int other = ControlLayout.otherVersion(datagram, 0, (int) datagram.byteSize(), checksum);
            assertEquals(version == 2 ? 0 : version, other);
        }
    }

    @Test
    void shouldLeaveRoomForATagBehindEveryDatagram() {
        for (final MemorySegment datagram : one()) {
            assertTrue(datagram.byteSize() <= ControlLayout.BODY_END_MAX
                    || ControlLayout.type(datagram, 0) == ControlLayout.TYPE_SOLICIT);
        }
        assertTrue(NackLayout.FIRST_RANGE + NackLayout.rangesMax(false) * NackLayout.RANGE_BYTES
                <= ControlLayout.BODY_END_MAX);
        assertTrue(FrameLayout.METADATA + FrameLayout.METADATA_BYTES_MAX <= ControlLayout.BODY_END_MAX);
    }

    @Test
    void shouldReadTheNumberOfAFormatApartFromTheFlags() {
        for (int format = 0; format < 16; format++) {
            final MemorySegment header = MemorySegment.ofArray(new byte[DataLayout.LENGTH]);
            final DataHeader values =
                    new DataHeader().session(DataLayout.TYPE_DATA, SESSION).format(format);
            values.attributes(DataLayout.FLAG_KEYFRAME, 0);
            DataLayout.write(header, 0, values, 1, 0);
            assertEquals(format, DataLayout.format(header, 0));
            assertEquals(DataLayout.FLAG_KEYFRAME, DataLayout.flags(header, 0));
            assertFalse(DataLayout.isBundle(header, 0));
        }
    }

    @Test
    void shouldFindTheWholeGrantNearWhatTheSourceSends() {
        final SplittableRandom random = new SplittableRandom(6);
        for (int i = 0; i < 10_000; i++) {
            final long next = random.nextLong(Wire.SEQUENCE_MAX);
            final long grant = Math.max(0, next + random.nextLong(-(1L << 40), 1L << 40));
            final int epoch = 1 + random.nextInt(CreditWord.EPOCH_MAX);
            final long word = CreditWord.of(epoch, grant);
            assertEquals(epoch, CreditWord.epoch(word));
            assertEquals(grant, CreditWord.grant(word, next));
        }
    }

    @Test
    void shouldReadWhatAHeartbeatSaid() {
        final MemorySegment datagram = heartbeat(HeartbeatLayout.FLAG_END_OF_STREAM);
        assertEquals(HeartbeatLayout.FLAG_END_OF_STREAM, ControlLayout.FLAGS.get(datagram, 0));
        assertEquals(77, HeartbeatLayout.NEXT_SEQUENCE.get(datagram, 0));
        assertEquals(5, HeartbeatLayout.NEXT_FRAME_ID.get(datagram, 0));
        assertEquals(123, HeartbeatLayout.SOURCE_TIME.get(datagram, 0));
        assertEquals(456, HeartbeatLayout.RTT.unsigned(datagram, 0));
        assertEquals(7, HeartbeatLayout.MEMBERS.get(datagram, 0));
        final StreamInfo info = HeartbeatLayout.info(datagram, 0);
        assertEquals(INFO.session(), info.session());
        assertEquals(INFO.channel(), info.channel());
        assertEquals(INFO.slotBytes(), info.slotBytes());
        assertEquals(INFO.windowSlots(), info.windowSlots());
        assertEquals(INFO.frameMaxBytes(), info.frameMaxBytes());
        assertEquals(INFO.aliveTimeoutMs(), info.aliveTimeoutMs());
        assertArrayEquals(INFO.controlAddress(), info.controlAddress());
        assertArrayEquals(INFO.dataAddress(), info.dataAddress());
    }

    /// One that is only fed is none for a source that does not know it, and none where it has no endpoint.
    @Test
    void shouldTellHowAReceiverServes() {
        for (final byte[] link : new byte[][] {{}, {9, 9}}) {
            for (final CoRootOffer offer :
                    List.of(CoRootOffer.NONE, new CoRootOffer(7, true), new CoRootOffer(7, true, true))) {
                JoinLayout.write(
                        ids.in(scratch),
                        new JoinLayout.Terms(
                                9,
                                Delivery.RELIABLE,
                                12,
                                new LaneAddresses(new byte[] {1}, new byte[] {2}, link),
                                offer));
                final boolean lost = offer.fedOnly() && link.length == 0;
                assertEquals(
                        lost ? new CoRootOffer(7, false) : offer,
                        JoinLayout.terms(scratch, 0).offer());
                assertEquals(
                        offer.serves() && !offer.fedOnly(),
                        (ControlLayout.FLAGS.get(scratch, 0) & JoinLayout.FLAG_SERVES) != 0);
            }
        }
    }

    @Test
    void shouldReadWhatTheOthersSaid() {
        final List<MemorySegment> all = one();
        assertEquals(99, JoinLayout.RING_SLOTS.get(all.get(1), 0));
        final JoinLayout.Terms terms = JoinLayout.terms(all.get(1), 0);
        assertEquals(Delivery.deadline(40), terms.delivery());
        assertArrayEquals(new byte[] {1}, terms.addresses().control());
        assertArrayEquals(new byte[] {2, 3}, terms.addresses().repair());
        assertEquals(new CoRootOffer(7, true), terms.offer());
        assertEquals(42, AdmitLayout.TOKEN.get(all.get(2), 0));
        assertEquals(0, AdmitLayout.GRANT_SLOTS.get(all.get(2), 0));
        assertEquals(10, AdmitLayout.GRANT_SLOTS.get(all.get(3), 0));
        assertEquals(43, AdmitLayout.VALUE.get(all.get(2), 0));
        assertEquals(44, AdmitLayout.VALUE.get(all.get(3), 0));
        assertEquals(1000, StartLayout.FIRST_SEQUENCE.get(all.get(4), 0));
        assertEquals(10, StartLayout.FIRST_FRAME_ID.get(all.get(4), 0));
        assertEquals(3, StartLayout.NEWEST_FORMAT.get(all.get(4), 0));
        assertEquals(5, AckLayout.ACKNOWLEDGED.get(all.get(5), 0));
        assertEquals(100, AckLayout.GRANT.get(all.get(5), 0));
        assertEquals(7, AckLayout.HIGHEST.get(all.get(5), 0));
        assertEquals(1, AckLayout.ECHO_TIME.get(all.get(5), 0));
        assertEquals(2, AckLayout.ECHO_DELAY.unsigned(all.get(5), 0));
        assertEquals(AckLayout.FLAG_COMPLETE, ControlLayout.FLAGS.get(all.get(5), 0));
        assertEquals(2, NackLayout.ranges(all.get(6), 0));
        assertEquals(9, NackLayout.first(all.get(6), 0, 1));
        assertEquals(1, NackLayout.count(all.get(6), 0, 1));
        assertEquals(2, NackLayout.ranges(all.get(15), 0));
        assertEquals(9, NackLayout.first(all.get(15), 0, 1));
        assertEquals(1, NackLayout.count(all.get(15), 0, 1));
        assertEquals(100, AckLayout.GRANT.get(all.get(15), 0));
        assertArrayEquals(new byte[] {4, 5}, FrameLayout.metadata(all.get(7), 0));
        assertEquals(8, FrameLayout.FIRST_SEQUENCE.get(all.get(8), 0));
        assertEquals(Reason.LEFT, LeaveLayout.reason(all.get(9), 0));
        assertEquals(Reason.RING_TOO_SMALL, LeaveLayout.reason(all.get(10), 0));
    }

    @Test
    void shouldReadWhatIsSaidOfCoRoots() {
        final List<MemorySegment> all = one();
        assertFalse(AckLayout.isAggregate(all.get(5), 0));
        assertTrue(AckLayout.isAggregate(all.get(11), 0));
        assertEquals(4, AckLayout.COVERED.get(all.get(11), 0));
        assertEquals(77, AckLayout.SLOWEST_MEMBER.get(all.get(11), 0));
        assertEquals(55, AssignLayout.CO_ROOT.get(all.get(12), 0));
        assertArrayEquals(new byte[] {6, 7}, AssignLayout.ADDRESS.read(all.get(12), 0));
        assertEquals(0, AssignLayout.CO_ROOT.get(all.get(13), 0));
        assertEquals(0, RepairGroupLayout.PART.get(all.get(14), 0));
        assertEquals(1, RepairGroupLayout.PARTS.get(all.get(14), 0));
        assertEquals(2, RepairGroupLayout.MEMBERS.get(all.get(14), 0));
        assertEquals(56, RepairGroupLayout.id(all.get(14), 0, 1));
        assertEquals(3, RepairGroupLayout.joined(all.get(14), 0, 1));
        assertArrayEquals(
                new byte[] {2, 3},
                RepairGroupLayout.addresses(all.get(14), 0, 0).repair());
        assertArrayEquals(
                new byte[] {4}, RepairGroupLayout.addresses(all.get(14), 0, 1).control());
    }

    @Test
    void shouldSplitASetThatIsLongerThanADatagram() {
        final int total = RepairGroupLayout.MEMBERS_MAX;
        int seen = 0;
        for (int part = 0; part < RepairGroupLayout.partsOf(total); part++) {
            for (int i = 0; i < RepairGroupLayout.MEMBERS_PER_PART; i++) {
                RepairGroupLayout.member(scratch, i, 1 + i, 2, new LaneAddresses(new byte[] {1}, new byte[] {2}));
            }
            final MemorySegment datagram = exact(RepairGroupLayout.write(ids.in(scratch), part, total));
            assertTrue(RepairGroupLayout.isValid(datagram, 0));
            seen += RepairGroupLayout.MEMBERS.get(datagram, 0);
        }
        assertEquals(total, seen);
        assertEquals(1, RepairGroupLayout.partsOf(0));
    }

    @Test
    void shouldRejectWhenRangesOverlapOrOverflow() {
        NackLayout.range(scratch, false, 0, 5, 4);
        NackLayout.range(scratch, false, 1, 8, 1);
        assertFalse(NackLayout.isValid(exact(NackLayout.write(ids.in(scratch), 2)), 0));
        NackLayout.range(scratch, false, 0, Long.MAX_VALUE - 1, 4);
        assertFalse(NackLayout.isValid(exact(NackLayout.write(ids.in(scratch), 1)), 0));
        NackLayout.range(scratch, false, 0, 5, -1);
        assertFalse(NackLayout.isValid(exact(NackLayout.write(ids.in(scratch), 1)), 0));
        NackLayout.range(scratch, false, 0, -5, 1);
        assertFalse(NackLayout.isValid(exact(NackLayout.write(ids.in(scratch), 1)), 0));
    }

    @Test
    void shouldFitTheLongestNackAndMetadataWhenFull() {
        for (int i = 0; i < NackLayout.rangesMax(false); i++) {
            NackLayout.range(scratch, false, i, 2L * i, 1);
        }
        assertTrue(NackLayout.isValid(exact(NackLayout.write(ids.in(scratch), NackLayout.rangesMax(false))), 0));
        final byte[] metadata = new byte[FrameLayout.METADATA_BYTES_MAX];
        assertTrue(FrameLayout.isValid(exact(FrameLayout.write(ids.in(scratch), 0, metadata)), 0));
    }

    @Test
    void shouldRejectWhenSequencesAreNearTheEndOfNumbers() {
        final MemorySegment start = exact(StartLayout.write(ids.in(scratch), Long.MAX_VALUE, 0, 0));
        assertFalse(StartLayout.isValid(start, 0));
        final AckValues ack = new AckValues().progress(10, 5, 10).echo(0, 0);
        assertFalse(AckLayout.isValid(exact(AckLayout.write(ids.in(scratch), ack)), 0));
    }

    private MemorySegment header() {
        final MemorySegment header = MemorySegment.ofArray(new byte[DataLayout.LENGTH]);
        final DataHeader values = new DataHeader()
                .session(DataLayout.TYPE_DATA, SESSION)
                .frame((1L << 32) + 7, (1L << 32) - 1, -5)
                .attributes(DataLayout.FLAG_KEYFRAME, 1024);
        DataLayout.write(header, 0, values, 1L << 40, (1L << 32) - 1);
        checksum.seal(header, 0, SESSION);
        return header;
    }

    @Test
    void shouldReadWhatADataHeaderSaid() {
        final MemorySegment header = header();
        assertEquals(DataLayout.TYPE_DATA, DataLayout.type(header, 0));
        assertEquals(7, DataLayout.FRAME_ID.get(header, 0));
        assertEquals((1L << 32) - 1, DataLayout.FRAME_BYTES.unsigned(header, 0));
        assertEquals((1L << 32) - 1, DataLayout.FRAME_INDEX.unsigned(header, 0));
        assertEquals(1L << 40, DataLayout.SEQUENCE.get(header, 0));
        assertEquals(-5, DataLayout.TIMESTAMP.get(header, 0));
        assertEquals(1024, DataLayout.METADATA_BYTES.get(header, 0));
        assertEquals(DataLayout.FLAG_KEYFRAME, DataLayout.flags(header, 0));
        assertTrue(checksum.isSealed(header, 0, SESSION));
    }

    @Test
    void shouldRejectWhenAnyBitOfADataHeaderFlips() {
        final MemorySegment header = header();
        for (int bit = 0; bit < 8 * DataLayout.LENGTH; bit++) {
            flip(header, bit);
            assertFalse(checksum.isSealed(header, 0, SESSION), "bit " + bit);
            flip(header, bit);
        }
    }

    @Test
    void shouldRejectWhenOnlyTheUnsentHalfOfTheSessionDiffers() {
        final MemorySegment header = header();
        for (int bit = 32; bit < 64; bit++) {
            assertFalse(checksum.isSealed(header, 0, SESSION ^ (1L << bit)));
        }
    }

    private static void flip(final MemorySegment datagram, final int bit) {
        final byte value = datagram.get(JAVA_BYTE, bit >>> 3);
        datagram.set(JAVA_BYTE, bit >>> 3, (byte) (value ^ (1 << (bit & 7))));
    }
}
