package io.framecast.reliability.wire;

import static io.framecast.fuzz.FuzzLimits.require;
import static io.framecast.fuzz.FuzzLimits.requireAllocation;
import static io.framecast.fuzz.FuzzLimits.requireEqual;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.framecast.fuzz.FuzzCorpus;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// A control datagram, as it is and again with length, version and checksum set right, as an attacker inside the group
/// would: after [Verdict#GOOD] and the type's `isValid`, every accessor returns, and its values written anew are read
/// again as they were.
public final class ControlDatagramFuzzTest {
    private static final long ALLOCATED_MAX = 1 << 20;
    private static final HeaderChecksum CHECKSUM = new HeaderChecksum();

    @TestFactory
    Stream<DynamicTest> shouldReadOnlyWhatIsValid() {
        final Map<String, byte[]> seeds = new HashMap<>();
        for (final MemorySegment datagram : new LayoutTest().one()) {
            final int type = ControlLayout.type(datagram, 0);
            seeds.put(type + "-" + datagram.byteSize(), datagram.toArray(JAVA_BYTE));
        }
        return FuzzCorpus.of(ControlDatagramFuzzTest.class, seeds, ControlDatagramFuzzTest::fuzzerTestOneInput);
    }

    public static void fuzzerTestOneInput(final byte[] input) {
        requireAllocation(ALLOCATED_MAX, () -> {
            read(input);
            if (input.length >= ControlLayout.LENGTH && input.length <= Wire.CONTROL_BYTES_MAX) {
                final byte[] sealed = input.clone();
                seal(MemorySegment.ofArray(sealed));
                read(sealed);
            }
        });
    }

    private static void seal(final MemorySegment datagram) {
        final int type = ControlLayout.type(datagram, 0);
        ControlLayout.begin(datagram, type);
        ControlLayout.DATAGRAM_BYTES.set(datagram, 0, (int) datagram.byteSize());
        ControlLayout.CHECKSUM.set(datagram, 0, CHECKSUM.ofControl(datagram, 0, (int) datagram.byteSize()));
    }

    // The datagram ends where memory ends, so that a read beyond it throws.
    private static void read(final byte[] input) {
        final long offset = 3;
        final MemorySegment memory = MemorySegment.ofArray(new byte[input.length + (int) offset]);
        MemorySegment.copy(input, 0, memory, JAVA_BYTE, offset, input.length);
        final int other = ControlLayout.otherVersion(memory, offset, input.length, CHECKSUM);
        require(other >= 0 && other < 16 && other != Wire.VERSION, "another version");
        if (ControlLayout.check(memory, offset, input.length, CHECKSUM) != Verdict.GOOD || !isValid(memory, offset)) {
            return;
        }
        final List<Object> values = values(memory, offset);
        final MemorySegment again = MemorySegment.ofArray(new byte[Wire.CONTROL_BYTES_MAX]);
        final ControlWriter out = new ControlWriter(ControlLayout.SESSION.get(memory, offset))
                .receiver(ControlLayout.RECEIVER.get(memory, offset))
                .epoch(ControlLayout.EPOCH.get(memory, offset))
                .in(again);
        final int bytes = write(out, again, memory, offset);
        require(bytes <= ControlLayout.BODY_END_MAX || isSolicit(memory, offset), "room for a tag behind the body");
        requireEqual(Verdict.GOOD, ControlLayout.check(again, 0, bytes, CHECKSUM));
        require(isValid(again, 0), "what was valid to be valid when it is written anew");
        requireEqual(values, values(again, 0));
    }

    private static boolean isSolicit(final MemorySegment datagram, final long offset) {
        return ControlLayout.type(datagram, offset) == ControlLayout.TYPE_SOLICIT;
    }

    private static boolean isValid(final MemorySegment datagram, final long offset) {
        return switch (ControlLayout.type(datagram, offset)) {
            case ControlLayout.TYPE_HEARTBEAT -> HeartbeatLayout.isValid(datagram, offset);
            case ControlLayout.TYPE_JOIN -> JoinLayout.isValid(datagram, offset);
            case ControlLayout.TYPE_ADMIT, ControlLayout.TYPE_READY -> AdmitLayout.isValid(datagram, offset);
            case ControlLayout.TYPE_START -> StartLayout.isValid(datagram, offset);
            case ControlLayout.TYPE_ACK -> AckLayout.isValid(datagram, offset);
            case ControlLayout.TYPE_NACK -> NackLayout.isValid(datagram, offset);
            case ControlLayout.TYPE_FRAME -> FrameLayout.isValid(datagram, offset);
            case ControlLayout.TYPE_FRAME_REQUEST -> FrameLayout.isValidRequest(datagram, offset);
            case ControlLayout.TYPE_FORMAT -> FormatLayout.isValid(datagram, offset);
            case ControlLayout.TYPE_FORMAT_ACK -> FormatLayout.isValidAck(datagram, offset);
            case ControlLayout.TYPE_ASSIGN -> AssignLayout.isValid(datagram, offset);
            case ControlLayout.TYPE_RC_CONNECT ->
                RcConnectLayout.isValid(datagram, offset) || RcConnectLayout.isValidCopy(datagram, offset);
            case ControlLayout.TYPE_REPAIR_GROUP -> RepairGroupLayout.isValid(datagram, offset);
            case ControlLayout.TYPE_SOLICIT -> SolicitLayout.isValid(datagram, offset);
            case ControlLayout.TYPE_POLICY -> PolicyLayout.isValid(datagram, offset);
            case ControlLayout.TYPE_RESUME -> ResumeLayout.isValid(datagram, offset);
            case ControlLayout.TYPE_LEAVE, ControlLayout.TYPE_EVICT -> LeaveLayout.isValid(datagram, offset);
            default -> false;
        };
    }

    private static List<Object> values(final MemorySegment datagram, final long offset) {
        return switch (ControlLayout.type(datagram, offset)) {
            case ControlLayout.TYPE_HEARTBEAT -> heartbeat(datagram, offset);
            case ControlLayout.TYPE_JOIN -> terms(JoinLayout.terms(datagram, offset));
            // ADMIT grants nothing, so nothing is read there.
            case ControlLayout.TYPE_ADMIT ->
                List.of(AdmitLayout.TOKEN.get(datagram, offset), AdmitLayout.VALUE.get(datagram, offset));
            case ControlLayout.TYPE_READY ->
                List.of(
                        AdmitLayout.TOKEN.get(datagram, offset),
                        AdmitLayout.VALUE.get(datagram, offset),
                        AdmitLayout.GRANT_SLOTS.get(datagram, offset));
            case ControlLayout.TYPE_START ->
                List.of(
                        StartLayout.FIRST_SEQUENCE.get(datagram, offset),
                        StartLayout.FIRST_FRAME_ID.get(datagram, offset),
                        StartLayout.NEWEST_FORMAT.get(datagram, offset));
            case ControlLayout.TYPE_ACK ->
                List.of(ack(datagram, offset), AckLayout.isComplete(datagram, offset), slowest(datagram, offset));
            case ControlLayout.TYPE_NACK -> nack(datagram, offset);
            case ControlLayout.TYPE_FRAME ->
                List.of(FrameLayout.FIRST_SEQUENCE.get(datagram, offset), text(FrameLayout.metadata(datagram, offset)));
            case ControlLayout.TYPE_FRAME_REQUEST -> List.of(FrameLayout.FIRST_SEQUENCE.get(datagram, offset));
            case ControlLayout.TYPE_FORMAT ->
                List.of(
                        FormatLayout.FIRST_SEQUENCE.get(datagram, offset),
                        FormatLayout.SERIAL.get(datagram, offset),
                        FormatLayout.NUMBER.get(datagram, offset),
                        text(FormatLayout.format(datagram, offset)));
            // It asks for a format, or acknowledges one.
            case ControlLayout.TYPE_FORMAT_ACK ->
                FormatLayout.WANTED_NUMBER.get(datagram, offset) == 0
                        ? List.of(FormatLayout.KNOWN_SERIAL.get(datagram, offset))
                        : List.of("wanted", FormatLayout.WANTED_NUMBER.get(datagram, offset));
            case ControlLayout.TYPE_ASSIGN -> assignment(datagram, offset);
            case ControlLayout.TYPE_RC_CONNECT -> offer(RcConnectLayout.offer(datagram, offset));
            case ControlLayout.TYPE_REPAIR_GROUP -> group(datagram, offset);
            case ControlLayout.TYPE_SOLICIT -> List.of(SolicitLayout.CLOCK.get(datagram, offset));
            case ControlLayout.TYPE_POLICY ->
                List.of(
                        PolicyLayout.VERSION.get(datagram, offset),
                        PolicyLayout.delivery(datagram, offset),
                        PolicyLayout.SUBSCRIBERS.get(datagram, offset));
            case ControlLayout.TYPE_RESUME ->
                List.of(
                        ResumeLayout.ACKNOWLEDGED.get(datagram, offset),
                        ResumeLayout.secret(datagram, offset),
                        addresses(ResumeLayout.addresses(datagram, offset)),
                        ResumeLayout.offer(datagram, offset));
            default -> List.of(LeaveLayout.reason(datagram, offset));
        };
    }

    private static String text(final byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    private static List<String> addresses(final LaneAddresses addresses) {
        return List.of(text(addresses.control()), text(addresses.repair()), text(addresses.link()));
    }

    private static List<Object> terms(final JoinLayout.Terms terms) {
        return List.of(
                terms.ringSlots(), terms.delivery(), terms.secret(), addresses(terms.addresses()), terms.offer());
    }

    private static List<Object> offer(final EndpointOffer offer) {
        return List.of(text(offer.descriptor()), offer.word(), offer.headers(), offer.payload(), offer.guards());
    }

    private static List<Object> heartbeat(final MemorySegment datagram, final long offset) {
        final StreamInfo info = HeartbeatLayout.info(datagram, offset);
        require(info.frameMaxSlots() > 0, "frames of a datagram or more");
        return List.of(
                info.session(),
                // Other bytes than ASCII are replaced when the name is read, and again when it is written.
                info.channel().replace('\ufffd', '?'),
                info.slotBytes(),
                info.windowSlots(),
                info.frameMaxBytes(),
                info.aliveTimeoutMs(),
                text(info.controlAddress()),
                text(info.dataAddress()),
                HeartbeatLayout.NEXT_SEQUENCE.get(datagram, offset),
                HeartbeatLayout.REPAIRABLE.unsigned(datagram, offset),
                HeartbeatLayout.CLOCK.get(datagram, offset));
    }

    private static List<Object> ack(final MemorySegment datagram, final long offset) {
        return List.of(
                AckLayout.ACKNOWLEDGED.get(datagram, offset),
                AckLayout.GRANT.get(datagram, offset),
                AckLayout.HIGHEST.get(datagram, offset),
                AckLayout.ECHO_TIME.get(datagram, offset),
                AckLayout.ECHO_DELAY.unsigned(datagram, offset),
                AckLayout.isAggregate(datagram, offset) ? AckLayout.COVERED.get(datagram, offset) : 0);
    }

    private static long slowest(final MemorySegment datagram, final long offset) {
        return AckLayout.isAggregate(datagram, offset) ? AckLayout.SLOWEST_MEMBER.get(datagram, offset) : 0;
    }

    private static List<Object> nack(final MemorySegment datagram, final long offset) {
        final StringBuilder ranges = new StringBuilder();
        for (int i = 0; i < NackLayout.ranges(datagram, offset); i++) {
            ranges.append(NackLayout.first(datagram, offset, i))
                    .append('+')
                    .append(NackLayout.count(datagram, offset, i))
                    .append(' ');
        }
        final boolean acknowledges = NackLayout.acknowledges(datagram, offset);
        return List.of(ranges.toString(), acknowledges ? ack(datagram, offset) : List.of());
    }

    private static List<Object> assignment(final MemorySegment datagram, final long offset) {
        final long coRoot = AssignLayout.CO_ROOT.get(datagram, offset);
        return List.of(coRoot, coRoot == 0 ? "" : text(AssignLayout.ADDRESS.read(datagram, offset)));
    }

    private static List<Object> group(final MemorySegment datagram, final long offset) {
        final int members = RepairGroupLayout.MEMBERS.get(datagram, offset);
        final StringBuilder all = new StringBuilder();
        for (int i = 0; i < members; i++) {
            all.append(RepairGroupLayout.id(datagram, offset, i))
                    .append(RepairGroupLayout.joined(datagram, offset, i))
                    .append(addresses(RepairGroupLayout.addresses(datagram, offset, i)));
        }
        return List.of(RepairGroupLayout.PART.get(datagram, offset), members, all.toString());
    }

    private static int write(
            final ControlWriter out, final MemorySegment again, final MemorySegment datagram, final long offset) {
        final int type = ControlLayout.type(datagram, offset);
        return switch (type) {
            case ControlLayout.TYPE_HEARTBEAT -> writeHeartbeat(out, datagram, offset);
            case ControlLayout.TYPE_JOIN -> JoinLayout.write(out, JoinLayout.terms(datagram, offset));
            case ControlLayout.TYPE_ADMIT ->
                AdmitLayout.writeAdmit(
                        out, AdmitLayout.TOKEN.get(datagram, offset), AdmitLayout.VALUE.get(datagram, offset));
            case ControlLayout.TYPE_READY ->
                AdmitLayout.writeReady(
                        out,
                        AdmitLayout.TOKEN.get(datagram, offset),
                        AdmitLayout.VALUE.get(datagram, offset),
                        AdmitLayout.GRANT_SLOTS.get(datagram, offset));
            case ControlLayout.TYPE_START ->
                StartLayout.write(
                        out,
                        StartLayout.FIRST_SEQUENCE.get(datagram, offset),
                        StartLayout.FIRST_FRAME_ID.get(datagram, offset),
                        StartLayout.NEWEST_FORMAT.get(datagram, offset));
            case ControlLayout.TYPE_ACK -> AckLayout.write(out, ackValues(datagram, offset));
            case ControlLayout.TYPE_NACK -> writeNack(out, again, datagram, offset);
            case ControlLayout.TYPE_FRAME ->
                FrameLayout.write(
                        out, FrameLayout.FIRST_SEQUENCE.get(datagram, offset), FrameLayout.metadata(datagram, offset));
            case ControlLayout.TYPE_FRAME_REQUEST ->
                FrameLayout.writeRequest(out, FrameLayout.FIRST_SEQUENCE.get(datagram, offset));
            case ControlLayout.TYPE_FORMAT ->
                FormatLayout.write(
                        out,
                        FormatLayout.FIRST_SEQUENCE.get(datagram, offset),
                        FormatLayout.SERIAL.get(datagram, offset),
                        FormatLayout.NUMBER.get(datagram, offset),
                        FormatLayout.format(datagram, offset));
            default -> writeMore(type, out, again, datagram, offset);
        };
    }

    private static int writeMore(
            final int type,
            final ControlWriter out,
            final MemorySegment again,
            final MemorySegment datagram,
            final long offset) {
        return switch (type) {
            case ControlLayout.TYPE_FORMAT_ACK -> writeFormatAck(out, datagram, offset);
            case ControlLayout.TYPE_ASSIGN ->
                AssignLayout.CO_ROOT.get(datagram, offset) == 0
                        ? AssignLayout.writeDirect(out)
                        : AssignLayout.write(
                                out,
                                AssignLayout.CO_ROOT.get(datagram, offset),
                                AssignLayout.ADDRESS.read(datagram, offset));
            case ControlLayout.TYPE_RC_CONNECT -> writeConnect(out, datagram, offset);
            case ControlLayout.TYPE_REPAIR_GROUP -> writeGroup(out, again, datagram, offset);
            case ControlLayout.TYPE_SOLICIT -> SolicitLayout.write(out, SolicitLayout.CLOCK.get(datagram, offset));
            case ControlLayout.TYPE_POLICY ->
                PolicyLayout.write(
                        out,
                        PolicyLayout.VERSION.get(datagram, offset),
                        PolicyLayout.delivery(datagram, offset),
                        PolicyLayout.SUBSCRIBERS.get(datagram, offset));
            case ControlLayout.TYPE_RESUME ->
                ResumeLayout.write(
                        out,
                        ResumeLayout.ACKNOWLEDGED.get(datagram, offset),
                        new JoinLayout.Terms(
                                0,
                                Delivery.RELIABLE,
                                ResumeLayout.secret(datagram, offset),
                                ResumeLayout.addresses(datagram, offset),
                                ResumeLayout.offer(datagram, offset)));
            case ControlLayout.TYPE_LEAVE -> LeaveLayout.writeLeave(out, LeaveLayout.reason(datagram, offset));
            default -> LeaveLayout.writeEvict(out, LeaveLayout.reason(datagram, offset));
        };
    }

    private static int writeHeartbeat(final ControlWriter out, final MemorySegment datagram, final long offset) {
        final StreamInfo info = HeartbeatLayout.info(datagram, offset);
        return HeartbeatLayout.write(
                out,
                0,
                info,
                info.channel().getBytes(StandardCharsets.US_ASCII),
                new HeartbeatValues()
                        .progress(HeartbeatLayout.NEXT_SEQUENCE.get(datagram, offset), 0)
                        .repairable(HeartbeatLayout.REPAIRABLE.unsigned(datagram, offset))
                        .clock(HeartbeatLayout.CLOCK.get(datagram, offset)));
    }

    private static AckValues ackValues(final MemorySegment datagram, final long offset) {
        final AckValues values = new AckValues()
                .progress(
                        AckLayout.ACKNOWLEDGED.get(datagram, offset),
                        AckLayout.GRANT.get(datagram, offset),
                        AckLayout.HIGHEST.get(datagram, offset))
                .echo(AckLayout.ECHO_TIME.get(datagram, offset), AckLayout.ECHO_DELAY.unsigned(datagram, offset))
                .complete(AckLayout.isComplete(datagram, offset));
        return AckLayout.isAggregate(datagram, offset)
                ? values.aggregate(
                        AckLayout.COVERED.get(datagram, offset), AckLayout.SLOWEST_MEMBER.get(datagram, offset))
                : values.single();
    }

    private static int writeNack(
            final ControlWriter out, final MemorySegment again, final MemorySegment datagram, final long offset) {
        final boolean acknowledges = NackLayout.acknowledges(datagram, offset);
        final int ranges = NackLayout.ranges(datagram, offset);
        for (int i = 0; i < ranges; i++) {
            NackLayout.range(
                    again,
                    acknowledges,
                    i,
                    NackLayout.first(datagram, offset, i),
                    NackLayout.count(datagram, offset, i));
        }
        return acknowledges
                ? NackLayout.write(out, ranges, ackValues(datagram, offset))
                : NackLayout.write(out, ranges);
    }

    private static int writeFormatAck(final ControlWriter out, final MemorySegment datagram, final long offset) {
        final int number = FormatLayout.WANTED_NUMBER.get(datagram, offset);
        return number == 0
                ? FormatLayout.writeAck(out, FormatLayout.KNOWN_SERIAL.get(datagram, offset))
                : FormatLayout.writeRequest(out, number);
    }

    private static int writeConnect(final ControlWriter out, final MemorySegment datagram, final long offset) {
        final EndpointOffer offer = RcConnectLayout.offer(datagram, offset);
        if (RcConnectLayout.isOfSet(datagram, offset)) {
            return RcConnectLayout.writeOfSet(out, offer);
        }
        final int epoch = RcConnectLayout.EPOCH.get(datagram, offset);
        return RcConnectLayout.isFeeding(datagram, offset)
                ? RcConnectLayout.writeFeed(out, epoch, offer)
                : RcConnectLayout.write(out, epoch, offer);
    }

    private static int writeGroup(
            final ControlWriter out, final MemorySegment again, final MemorySegment datagram, final long offset) {
        final int part = RepairGroupLayout.PART.get(datagram, offset);
        final int members = RepairGroupLayout.MEMBERS.get(datagram, offset);
        for (int i = 0; i < members; i++) {
            RepairGroupLayout.member(
                    again,
                    i,
                    RepairGroupLayout.id(datagram, offset, i),
                    RepairGroupLayout.joined(datagram, offset, i),
                    RepairGroupLayout.addresses(datagram, offset, i));
        }
        final int total = part == RepairGroupLayout.PARTS.get(datagram, offset) - 1
                ? part * RepairGroupLayout.MEMBERS_PER_PART + members
                : RepairGroupLayout.MEMBERS_MAX;
        return RepairGroupLayout.write(out, part, total);
    }
}
