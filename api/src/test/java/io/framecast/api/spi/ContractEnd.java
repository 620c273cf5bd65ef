package io.framecast.api.spi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.fail;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// One lane with its rings, as [TransportContract] uses it. A datagram is made from an id, which is its first
/// eight bytes; the rest is noise seeded by the id and the length, so that any byte out of place shows.
final class ContractEnd implements AutoCloseable {
    static final int SLOTS = 16;
    static final int HEADER_BYTES = 32;
    static final int PAYLOAD_BYTES = 1024;
    static final int DATAGRAM_BYTES_MIN = 8;

    /// The fill of a receive ring before any datagram arrived there.
    static final byte CANARY = 0x5a;

    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long PARK_NS = 20_000;
    private static final int RESERVE_ALIGN_BYTES = 64;

    /// A datagram that arrived.
    record Arrived(long id, int slot, int bytes) {}

    /// Shapes of the rings of one end.
    ///
    /// @param headerBytes header bytes of both rings
    /// @param payloadBytes payload slot of both rings
    /// @param slots slots of both rings
    record Shape(int headerBytes, int payloadBytes, int slots) {
        static final Shape DATA = new Shape(HEADER_BYTES, PAYLOAD_BYTES, SLOTS);
        static final Shape CONTROL = new Shape(0, PAYLOAD_BYTES, SLOTS);

        Shape withPayloadBytes(final int value) {
            return new Shape(headerBytes, value, slots);
        }
    }

    private final Arena arena = Arena.ofShared();
    private final Shape shape;
    private final SendRing send;
    private final ReceiveRing receive;
    private final int reserveBytes;
    private final Completions completions = new Completions(SLOTS);
    private final List<Arrived> arrived = new ArrayList<>();
    private final Lane lane;

    private ContractEnd(
            final Transport transport,
            final LaneKind kind,
            final LaneConfig.Role role,
            final Shape shape,
            final LaneAddress peer) {
        this.shape = shape;
        reserveBytes = transport.capabilities().headerReserveBytes();
        send = sendRing();
        receive = receiveRing();
        final boolean isData = kind == LaneKind.DATA;
        final boolean isSource = role == LaneConfig.Role.SOURCE;
        lane = transport.open(new LaneConfig(
                kind, role, isData && !isSource ? null : send, isData && isSource ? null : receive, peer));
    }

    static ContractEnd source(final Transport transport, final LaneKind kind, final Shape shape) {
        return new ContractEnd(transport, kind, LaneConfig.Role.SOURCE, shape, null);
    }

    /// @param source the end whose data this one hears; of no meaning for other lanes
    static ContractEnd receiver(
            final Transport transport, final LaneKind kind, final Shape shape, final ContractEnd source) {
        final LaneAddress peer = kind == LaneKind.DATA ? source.lane.address() : null;
        return new ContractEnd(transport, kind, LaneConfig.Role.RECEIVER, shape, peer);
    }

    /// The bytes of datagram `id`.
    static byte[] datagram(final long id, final int bytes) {
        final byte[] datagram = new byte[bytes];
        new Random(id * 31 + bytes).nextBytes(datagram);
        MemorySegment.ofArray(datagram).set(JAVA_LONG_UNALIGNED, 0, id);
        return datagram;
    }

    /// Waits for a condition that polling brings about; fails when it does not come.
    static void awaitUntil(final String what, final BooleanSupplier condition) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - startNs > DEADLINE_NS) {
                fail("waited in vain for " + what);
            }
            LockSupport.parkNanos(PARK_NS);
        }
    }

    Lane lane() {
        return lane;
    }

    List<Arrived> arrived() {
        return arrived;
    }

    List<Long> ids() {
        return arrived.stream().map(Arrived::id).toList();
    }

    List<Integer> slots() {
        return arrived.stream().map(Arrived::slot).toList();
    }

    /// Writes datagram `id` into send slot `slot`.
    void fill(final int slot, final long id, final int datagramBytes) {
        write(slot, datagram(id, datagramBytes));
    }

    /// Writes these bytes into send slot `slot`.
    void write(final int slot, final byte[] datagram) {
        final int payloadBytes = datagram.length - shape.headerBytes();
        MemorySegment.copy(
                datagram, 0, send.headers(), JAVA_BYTE, (long) slot * shape.headerBytes(), shape.headerBytes());
        MemorySegment.copy(
                datagram,
                shape.headerBytes(),
                send.payload(),
                JAVA_BYTE,
                (long) slot * shape.payloadBytes(),
                payloadBytes);
        send.payloadLengths()[slot] = payloadBytes;
    }

    /// Sends one datagram to the group from slot 0 and waits until its slot may be overwritten.
    void multicast(final long id, final int datagramBytes) {
        fill(0, id, datagramBytes);
        multicastSlots(0, 1);
    }

    /// Sends slots to the group, again where the lane pushed back.
    void multicastSlots(final int firstSlot, final int count) {
        final int[] done = new int[1];
        awaitUntil("multicast to be accepted", () -> {
            done[0] += lane.multicast((firstSlot + done[0]) % shape.slots(), count - done[0]);
            return done[0] == count;
        });
        awaitCompleted();
    }

    void unicast(final int peer, final long id, final int datagramBytes) {
        fill(0, id, datagramBytes);
        awaitUntil("unicast to be accepted", () -> lane.unicast(peer, 0, 1) == 1);
        awaitCompleted();
    }

    private void awaitCompleted() {
        awaitUntil("sends to complete", () -> lane.completed() == lane.submitted());
    }

    /// Posts the whole ring and forgets what was seen before.
    ContractEnd postAll() {
        lane.post(0, shape.slots());
        return this;
    }

    /// Polls once, checks each datagram's bytes where they arrived, and keeps it in [#arrived].
    int poll() {
        return poll(completions);
    }

    int poll(final Completions into) {
        into.clear();
        final int count = lane.poll(into);
        for (int i = 0; i < into.count(); i++) {
            arrived.add(check(into.slot(i), into.bytes(i)));
        }
        return count;
    }

    /// Polls until `count` datagrams have arrived since the end was opened, posting each slot again once it was
    /// read.
    void awaitArrivedReposting(final int count, final TransportCapabilities.Placement placement) {
        awaitUntil(count + " datagrams to arrive", () -> {
            poll();
            repost(placement);
            return arrived.size() >= count;
        });
    }

    private void repost(final TransportCapabilities.Placement placement) {
        final int count = completions.count();
        if (count > 0 && placement == TransportCapabilities.Placement.BY_SEQUENCE) {
            lane.post((completions.slot(count - 1) + 1) % shape.slots(), shape.slots());
        }
        for (int i = 0; i < count && placement == TransportCapabilities.Placement.BY_ARRIVAL; i++) {
            lane.post(completions.slot(i), 1);
        }
    }

    /// Makes a ring of a BY_SEQUENCE lane as new: nothing posted, nothing seen, canaries everywhere.
    void reset() {
        lane.post(0, 0);
        arrived.clear();
        receive.headers().fill(CANARY);
        receive.payload().host().fill(CANARY);
    }

    /// Polls until `count` datagrams have arrived since the end was opened.
    void awaitArrived(final int count) {
        awaitUntil(count + " datagrams to arrive, got " + arrived.size(), () -> {
            poll();
            return arrived.size() >= count;
        });
    }

    /// The bytes of the datagram that arrived last, header and payload put together.
    byte[] lastBytes() {
        final Arrived last = arrived.getLast();
        return bytesAt(last.slot(), last.bytes());
    }

    /// Whether nothing was ever written to a slot, the transport's reserve included.
    boolean isUntouched(final int slot) {
        final MemorySegment header =
                receive.headers().asSlice((long) slot * receive.headerStride(), receive.headerStride());
        final MemorySegment payload =
                receive.payload().host().asSlice((long) slot * shape.payloadBytes(), shape.payloadBytes());
        return isCanary(header) && isCanary(payload);
    }

    private static boolean isCanary(final MemorySegment segment) {
        for (final byte b : segment.toArray(JAVA_BYTE)) {
            if (b != CANARY) {
                return false;
            }
        }
        return true;
    }

    private Arrived check(final int slot, final int bytes) {
        final byte[] got = bytesAt(slot, bytes);
        final long id =
                bytes < DATAGRAM_BYTES_MIN ? -1 : MemorySegment.ofArray(got).get(JAVA_LONG_UNALIGNED, 0);
        if (id >= 0) {
            assertArrayEquals(datagram(id, bytes), got, () -> "datagram " + id + " in slot " + slot);
        }
        return new Arrived(id, slot, bytes);
    }

    private byte[] bytesAt(final int slot, final int bytes) {
        final int headerBytes = Math.min(bytes, shape.headerBytes());
        final byte[] got = new byte[bytes];
        MemorySegment.copy(
                receive.headers(), JAVA_BYTE, (long) slot * receive.headerStride() + reserveBytes, got, 0, headerBytes);
        MemorySegment.copy(
                receive.payload().host(),
                JAVA_BYTE,
                (long) slot * shape.payloadBytes(),
                got,
                headerBytes,
                bytes - headerBytes);
        return got;
    }

    private SendRing sendRing() {
        final long headers = Math.max(1, (long) shape.slots() * shape.headerBytes());
        return new SendRing(
                arena.allocate(headers, RESERVE_ALIGN_BYTES),
                shape.headerBytes(),
                arena.allocate((long) shape.slots() * shape.payloadBytes(), RESERVE_ALIGN_BYTES),
                shape.payloadBytes(),
                new int[shape.slots()]);
    }

    private ReceiveRing receiveRing() {
        final int stride = reserveBytes + shape.headerBytes();
        final MemorySegment headers = arena.allocate(Math.max(1, (long) shape.slots() * stride), RESERVE_ALIGN_BYTES);
        final MemorySegment payload = arena.allocate((long) shape.slots() * shape.payloadBytes(), RESERVE_ALIGN_BYTES);
        headers.fill(CANARY);
        payload.fill(CANARY);
        return new ReceiveRing(
                headers,
                shape.headerBytes(),
                stride,
                DeviceRegion.ofHost(payload),
                shape.payloadBytes(),
                shape.slots());
    }

    @Override
    public void close() {
        lane.close();
        arena.close();
    }
}
