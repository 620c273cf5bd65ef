package io.framecast.api.spi;

import static io.framecast.api.spi.ContractEnd.HEADER_BYTES;
import static io.framecast.api.spi.ContractEnd.PAYLOAD_BYTES;
import static io.framecast.api.spi.ContractEnd.SLOTS;
import static io.framecast.api.spi.ContractEnd.awaitUntil;
import static io.framecast.api.spi.ContractEnd.datagram;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.ContractEnd.Shape;
import io.framecast.api.spi.TransportCapabilities.Placement;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The contract of every [Transport], on a network that loses nothing. Extend it and say how to open a transport;
/// all transports opened in one test must reach each other.
public abstract class TransportContract {
    private static final int FULL_BYTES = HEADER_BYTES + PAYLOAD_BYTES;
    private static final long WARM_UP_ID = Long.MAX_VALUE - 1;
    private static final long WARM_UP_END_ID = Long.MAX_VALUE;

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private Transport near;
    private Transport far;
    private Placement placement;

    /// A new transport on this test's network.
    protected abstract Transport openTransport();

    /// Whether multicast reaches a lane only some time after it opened; then each test begins with a
    /// handshake.
    protected boolean connectsLazily() {
        return false;
    }

    /// Whether a datagram that is dropped for its length has used up a slot, which the lane then posts again
    /// behind the others: hardware with a receive queue hands the slot out before anybody can look.
    protected boolean dropsAfterArrival() {
        return false;
    }

    /// Whether the datagrams of a lane arrive in the order in which they were sent.
    protected boolean keepsOrder() {
        return true;
    }

    @BeforeEach
    void openTransports() {
        near = keep(openTransport());
        far = keep(openTransport());
        placement = near.capabilities().placement();
    }

    @AfterEach
    void closeAll() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }

    private <T extends AutoCloseable> T keep(final T closeable) {
        opened.push(closeable);
        return closeable;
    }

    private ContractEnd source(final LaneKind kind, final Shape shape) {
        return keep(ContractEnd.source(near, kind, shape));
    }

    private ContractEnd receiver(final LaneKind kind, final Shape shape, final ContractEnd source) {
        return keep(ContractEnd.receiver(far, kind, shape, source));
    }

    /// Where lanes connect lazily: sends until each receiver has heard, then makes the receivers as new.
    private void handshake(final ContractEnd source, final ContractEnd... receivers) {
        if (!connectsLazily()) {
            return;
        }
        for (final ContractEnd receiver : receivers) {
            receiver.postAll();
        }
        // A bare header fits the slots of every shape.
        source.fill(0, WARM_UP_ID, HEADER_BYTES);
        awaitUntil("receivers to hear the source", () -> {
            source.lane().multicast(0, 1);
            return Arrays.stream(receivers)
                    .allMatch(r -> pollAndPost(r) || !r.arrived().isEmpty());
        });
        source.multicast(WARM_UP_END_ID, HEADER_BYTES);
        for (final ContractEnd receiver : receivers) {
            awaitUntil("the end of the handshake", () -> {
                pollAndPost(receiver);
                return receiver.ids().contains(WARM_UP_END_ID);
            });
            receiver.reset();
        }
    }

    private static boolean pollAndPost(final ContractEnd end) {
        final boolean some = end.poll() > 0;
        end.postAll();
        return some;
    }

    /// Each exactly once, and in this order where the network keeps it.
    private void assertIds(final List<Long> expected, final ContractEnd end) {
        assertEquals(
                expected, keepsOrder() ? end.ids() : end.ids().stream().sorted().toList());
    }

    private static List<Long> range(final long first, final long count) {
        return LongStream.range(first, first + count).boxed().toList();
    }

    @Test
    void shouldReachEachReceiverOnceWhenMulticast() {
        final ContractEnd source = source(LaneKind.DATA, Shape.DATA);
        final ContractEnd[] receivers = new ContractEnd[3];
        Arrays.setAll(receivers, i -> receiver(LaneKind.DATA, Shape.DATA, source));
        handshake(source, receivers);
        Arrays.stream(receivers).forEach(ContractEnd::postAll);

        final int rounds = 25;
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < SLOTS; i++) {
                final int bytes = HEADER_BYTES + (round * SLOTS + i) * PAYLOAD_BYTES / (rounds * SLOTS - 1);
                source.fill(i, (long) round * SLOTS + i, bytes);
            }
            source.multicastSlots(0, SLOTS);
            for (final ContractEnd receiver : receivers) {
                receiver.awaitArrivedReposting((round + 1) * SLOTS, placement);
            }
        }
        for (final ContractEnd receiver : receivers) {
            assertIds(range(0, (long) rounds * SLOTS), receiver);
            assertEquals(0, receiver.poll());
        }
    }

    @Test
    void shouldReachOnlyThePeerWhenUnicast() {
        for (final LaneKind kind : List.of(LaneKind.REPAIR, LaneKind.CONTROL)) {
            final Shape shape = kind == LaneKind.REPAIR ? Shape.DATA : Shape.CONTROL;
            final ContractEnd source = source(kind, shape);
            final ContractEnd peer = receiver(kind, shape, source);
            final ContractEnd other = receiver(kind, shape, source);
            handshake(source, peer, other);
            peer.postAll();
            other.postAll();
            final int handle = source.lane().connect(peer.lane().address());

            source.unicast(handle, 1, 500);
            peer.awaitArrived(1);
            source.multicast(2, 600);
            peer.awaitArrived(2);
            other.awaitArrived(1);

            assertIds(range(1, 2), peer);
            assertIds(range(2, 1), other);
            assertEquals(0, other.poll());
        }
    }

    @Test
    void shouldKnowThatLanesOfATransportAreOfOneHost() {
        final ContractEnd source = source(LaneKind.CONTROL, Shape.CONTROL);
        final LaneAddress control =
                receiver(LaneKind.CONTROL, Shape.CONTROL, source).lane().address();
        final LaneAddress repair =
                receiver(LaneKind.REPAIR, Shape.DATA, source).lane().address();
        assertNotEquals(control, repair);
        assertTrue(near.isOneHost(control, repair));
        assertTrue(near.isOneHost(repair, repair));
    }

    @Test
    void shouldAnswerByAddressWhenItWasCarriedAsBytes() {
        final ContractEnd source = source(LaneKind.CONTROL, Shape.CONTROL);
        final ContractEnd receiver = receiver(LaneKind.CONTROL, Shape.CONTROL, source);
        handshake(source, receiver);
        receiver.postAll();
        source.postAll();

        final byte[] address = source.lane().address().toBytes();
        final byte[] datagram = new byte[9 + address.length];
        Arrays.fill(datagram, (byte) -1);
        System.arraycopy(address, 0, datagram, 9, address.length);
        source.write(0, datagram);
        source.multicastSlots(0, 1);
        receiver.awaitArrived(1);
        assertArrayEquals(datagram, receiver.lastBytes());

        final byte[] carried = Arrays.copyOfRange(receiver.lastBytes(), 9, datagram.length);
        final int handle = receiver.lane().connect(new LaneAddress(carried));
        receiver.unicast(handle, 7, 700);
        source.awaitArrived(1);
        assertEquals(range(7, 1), source.ids());
    }

    @Test
    void shouldWrapWhenABatchPassesTheRingsEnd() {
        final ContractEnd source = source(LaneKind.DATA, Shape.DATA);
        final ContractEnd receiver = receiver(LaneKind.DATA, Shape.DATA, source);
        handshake(source, receiver);
        assertEquals(5, receiver.lane().post(SLOTS - 2, 5));
        for (int i = 0; i < 5; i++) {
            source.fill((SLOTS - 3 + i) % SLOTS, i, FULL_BYTES - i);
        }

        source.multicastSlots(SLOTS - 3, 5);
        receiver.awaitArrived(5);

        assertIds(range(0, 5), receiver);
        assertEquals(List.of(SLOTS - 2, SLOTS - 1, 0, 1, 2), receiver.slots());
    }

    @Test
    void shouldConsumeSlotsAsPostedWhenFifo() {
        assumeTrue(placement == Placement.BY_ARRIVAL, "placement is not BY_ARRIVAL");
        final ContractEnd source = source(LaneKind.DATA, Shape.DATA);
        final ContractEnd receiver = receiver(LaneKind.DATA, Shape.DATA, source);
        handshake(source, receiver);
        assertEquals(2, receiver.lane().post(10, 2));
        assertEquals(3, receiver.lane().post(4, 3));

        sendEach(source, 0, 5);
        receiver.awaitArrived(5);

        assertEquals(List.of(10, 11, 4, 5, 6), receiver.slots());
    }

    @Test
    void shouldReplaceWhatWasPostedWhenPlacedBySequence() {
        assumeTrue(placement == Placement.BY_SEQUENCE, "placement is not BY_SEQUENCE");
        final ContractEnd source = source(LaneKind.DATA, Shape.DATA);
        final ContractEnd receiver = receiver(LaneKind.DATA, Shape.DATA, source);
        handshake(source, receiver);
        receiver.lane().post(4, 3);
        receiver.lane().post(10, 3);

        sendEach(source, 0, 2);
        receiver.awaitArrived(2);
        receiver.lane().post(1, 4);
        sendEach(source, 2, 3);
        receiver.awaitArrived(5);

        assertIds(range(0, 5), receiver);
        assertEquals(List.of(10, 11, 1, 2, 3), receiver.slots());
        assertTrue(receiver.isUntouched(4) && receiver.isUntouched(12) && receiver.isUntouched(5));
    }

    @Test
    void shouldKeepTheRestPostedWhenAPollTookSome() {
        final ContractEnd source = source(LaneKind.DATA, Shape.DATA);
        final ContractEnd receiver = receiver(LaneKind.DATA, Shape.DATA, source);
        handshake(source, receiver);
        receiver.lane().post(3, 6);

        for (int i = 0; i < 6; i++) {
            sendEach(source, i, 1);
            receiver.awaitArrived(i + 1);
        }

        assertEquals(List.of(3, 4, 5, 6, 7, 8), receiver.slots());
    }

    @Test
    void shouldWriteNowhereWhenNothingIsPosted() {
        final ContractEnd source = source(LaneKind.DATA, Shape.DATA);
        final ContractEnd receiver = receiver(LaneKind.DATA, Shape.DATA, source);
        handshake(source, receiver);
        sendEach(source, 0, 2);
        assertEquals(0, receiver.poll());
        receiver.lane().post(5, 2);

        // The system dropped or kept datagrams that came too early; only posted slots may tell.
        sendEach(source, 2, 2);
        receiver.awaitArrived(2);
        assertEquals(0, receiver.poll());

        final List<?> ids = receiver.ids();
        assertTrue(
                !keepsOrder() || ids.equals(range(0, 2)) || ids.equals(range(1, 2)) || ids.equals(range(2, 2)),
                ids::toString);
        assertEquals(List.of(5, 6), receiver.slots());
        for (int slot = 0; slot < SLOTS; slot++) {
            assertEquals(slot != 5 && slot != 6, receiver.isUntouched(slot), "slot " + slot);
        }
    }

    @Test
    void shouldHearOnlyItsOwnSourceWhenTwoSend() {
        final ContractEnd first = source(LaneKind.DATA, Shape.DATA);
        final ContractEnd second = keep(ContractEnd.source(far, LaneKind.DATA, Shape.DATA));
        final ContractEnd ofFirst = receiver(LaneKind.DATA, Shape.DATA, first);
        final ContractEnd ofSecond = receiver(LaneKind.DATA, Shape.DATA, second);
        handshake(first, ofFirst);
        handshake(second, ofSecond);
        ofFirst.postAll();
        ofSecond.postAll();

        for (int i = 0; i < SLOTS / 2; i++) {
            first.multicast(i, FULL_BYTES);
            second.multicast(100 + i, FULL_BYTES);
        }
        ofFirst.awaitArrived(SLOTS / 2);
        ofSecond.awaitArrived(SLOTS / 2);

        assertEquals(0, ofFirst.poll());
        assertEquals(0, ofSecond.poll());
        assertIds(range(0, SLOTS / 2), ofFirst);
        assertIds(range(100, SLOTS / 2), ofSecond);
    }

    @Test
    void shouldDropWholeWhenLongerThanASlot() {
        final ContractEnd source = source(LaneKind.DATA, Shape.DATA);
        final ContractEnd receiver = receiver(LaneKind.DATA, Shape.DATA.withPayloadBytes(256), source);
        handshake(source, receiver);
        receiver.postAll();
        final long receivedBefore = receiver.lane().counter(LaneCounter.RECEIVED_DATAGRAMS);

        source.multicast(1, HEADER_BYTES + 257);
        source.multicast(2, HEADER_BYTES + 256);
        source.multicast(3, FULL_BYTES);
        source.multicast(4, HEADER_BYTES);
        receiver.awaitArrived(2);

        assertIds(List.of(2L, 4L), receiver);
        if (keepsOrder()) {
            assertEquals(
                    dropsAfterArrival() ? List.of(1, 3) : List.of(0, 1),
                    receiver.slots(),
                    "a dropped datagram uses up no slot");
        }
        assertEquals(2, receiver.lane().counter(LaneCounter.TRUNCATED));
        assertEquals(2, receiver.lane().counter(LaneCounter.RECEIVED_DATAGRAMS) - receivedBefore);
    }

    @Test
    void shouldDropWhenShorterThanAHeader() {
        final ContractEnd source = source(LaneKind.REPAIR, Shape.CONTROL);
        final ContractEnd receiver = receiver(LaneKind.REPAIR, Shape.DATA, source);
        handshake(source, receiver);
        receiver.postAll();

        source.multicast(1, HEADER_BYTES - 1);
        source.multicast(2, HEADER_BYTES);
        receiver.awaitArrived(1);

        assertIds(range(2, 1), receiver);
        assertEquals(List.of(dropsAfterArrival() ? 1 : 0), receiver.slots(), "a dropped datagram uses up no slot");
        assertEquals(1, receiver.lane().counter(LaneCounter.MALFORMED));
    }

    @Test
    void shouldFillCompletionsNoFurtherWhenMoreArrived() {
        final ContractEnd source = source(LaneKind.DATA, Shape.DATA);
        final ContractEnd receiver = receiver(LaneKind.DATA, Shape.DATA, source);
        handshake(source, receiver);
        receiver.postAll();
        sendEach(source, 0, 8);

        final Completions three = new Completions(3);
        awaitUntil("eight datagrams", () -> {
            final int count = receiver.poll(three);
            assertEquals(three.count(), count);
            assertTrue(count <= 3);
            return receiver.arrived().size() == 8;
        });

        assertIds(range(0, 8), receiver);
        assertEquals(0, receiver.lane().poll(full()));
    }

    private static Completions full() {
        final Completions full = new Completions(1);
        full.add(0, 1);
        return full;
    }

    @Test
    void shouldCarryTheLongestDatagramItPromises() {
        final int bytesMax = near.capabilities().datagramBytesMax();
        final Shape shape = new Shape(HEADER_BYTES, bytesMax - HEADER_BYTES, 4);
        final ContractEnd source = source(LaneKind.DATA, shape);
        final ContractEnd receiver = receiver(LaneKind.DATA, shape, source);
        handshake(source, receiver);
        receiver.postAll();

        source.multicast(5, bytesMax);
        receiver.awaitArrived(1);

        assertEquals(bytesMax, receiver.arrived().getFirst().bytes());
    }

    @Test
    void shouldCountWhatItMoves() {
        final ContractEnd source = source(LaneKind.DATA, Shape.DATA);
        final ContractEnd receiver = receiver(LaneKind.DATA, Shape.DATA, source);
        handshake(source, receiver);
        receiver.postAll();
        final Lane sender = source.lane();
        final long sentBefore = sender.counter(LaneCounter.SENT_DATAGRAMS);
        final long sentBytesBefore = sender.counter(LaneCounter.SENT_BYTES);
        final long receivedBefore = receiver.lane().counter(LaneCounter.RECEIVED_DATAGRAMS);
        final long receivedBytesBefore = receiver.lane().counter(LaneCounter.RECEIVED_BYTES);
        final long submittedBefore = sender.submitted();

        sendEach(source, 0, 6);
        receiver.awaitArrived(6);

        assertEquals(6, sender.counter(LaneCounter.SENT_DATAGRAMS) - sentBefore);
        assertEquals(6L * FULL_BYTES, sender.counter(LaneCounter.SENT_BYTES) - sentBytesBefore);
        assertEquals(6, receiver.lane().counter(LaneCounter.RECEIVED_DATAGRAMS) - receivedBefore);
        assertEquals(6L * FULL_BYTES, receiver.lane().counter(LaneCounter.RECEIVED_BYTES) - receivedBytesBefore);
        assertEquals(6, sender.submitted() - submittedBefore);
        awaitUntil("completions", () -> sender.completed() == sender.submitted());
        assertTrue(receiver.lane().receiveCapacity() > 0);
    }

    @Test
    void shouldRefuseAnAddressThatIsNotItsOwn() {
        final ContractEnd source = source(LaneKind.CONTROL, Shape.CONTROL);
        final byte[] good = source.lane().address().toBytes();
        assertRefused(source, new byte[0]);
        assertRefused(source, new byte[1]);
        assertRefused(source, new byte[LaneAddress.BYTES_MAX]);
        assertRefused(source, Arrays.copyOf(good, good.length - 1));
        assertRefused(source, Arrays.copyOf(good, good.length + 1));
        final byte[] otherKind = good.clone();
        otherKind[0] = (byte) ~otherKind[0];
        assertRefused(source, otherKind);

        // Random bytes may spell an address by chance, but may never do anything but be refused or taken.
        final Random random = new Random(1);
        for (int i = 0; i < 2_000; i++) {
            final byte[] bytes = new byte[random.nextInt(LaneAddress.BYTES_MAX + 1)];
            random.nextBytes(bytes);
            tryConnect(source.lane(), bytes);
        }
    }

    private static void assertRefused(final ContractEnd end, final byte[] bytes) {
        final TransportException refused =
                assertThrows(TransportException.class, () -> end.lane().connect(new LaneAddress(bytes)));
        assertFalse(refused.getMessage().contains("\n"), refused::getMessage);
    }

    private static void tryConnect(final Lane lane, final byte[] bytes) {
        try {
            lane.disconnect(lane.connect(new LaneAddress(bytes)));
        } catch (final TransportException e) {
            assertFalse(e.getMessage().isEmpty());
        }
    }

    @Test
    void shouldGiveHandlesAgainWhenDisconnected() {
        final ContractEnd source = source(LaneKind.CONTROL, Shape.CONTROL);
        final LaneAddress address = source.lane().address();
        final int first = source.lane().connect(address);
        final int second = source.lane().connect(address);
        assertNotEquals(first, second);

        source.lane().disconnect(first);
        assertThrows(IllegalArgumentException.class, () -> source.lane().unicast(first, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> source.lane().disconnect(first));
        assertEquals(first, source.lane().connect(address));
    }

    @Test
    void shouldTakeSoManyPeersAndNoMore() {
        final ContractEnd source = source(LaneKind.CONTROL, Shape.CONTROL);
        final LaneAddress address = source.lane().address();
        assertThrows(TransportException.class, () -> {
            for (int i = 0; i <= 1 << 20; i++) {
                source.lane().connect(address);
            }
        });
    }

    @Test
    void shouldKeepItsAddressAndEqualOnlyItself() {
        final ContractEnd source = source(LaneKind.CONTROL, Shape.CONTROL);
        final ContractEnd receiver = receiver(LaneKind.CONTROL, Shape.CONTROL, source);
        assertEquals(source.lane().address(), source.lane().address());
        assertNotEquals(source.lane().address(), receiver.lane().address());
    }

    @Test
    void shouldCloseTwiceAndRefuseUse() {
        final ContractEnd source = source(LaneKind.CONTROL, Shape.CONTROL);
        final Lane lane = source.lane();
        lane.close();
        lane.close();
        assertThrows(IllegalStateException.class, () -> lane.multicast(0, 1));
        assertThrows(IllegalStateException.class, () -> lane.poll(new Completions(1)));
        assertThrows(IllegalStateException.class, () -> lane.post(0, 1));

        final Transport transport = openTransport();
        final ContractEnd left = keep(ContractEnd.source(transport, LaneKind.CONTROL, Shape.CONTROL));
        transport.close();
        transport.close();
        assertThrows(IllegalStateException.class, () -> left.lane().multicast(0, 1));
        assertThrows(TransportException.class, () -> ContractEnd.source(transport, LaneKind.CONTROL, Shape.CONTROL));
    }

    @Test
    void shouldRefuseUseThatItWasNotOpenedFor() {
        final ContractEnd source = source(LaneKind.DATA, Shape.DATA);
        final ContractEnd receiver = receiver(LaneKind.DATA, Shape.DATA, source);
        assertThrows(IllegalStateException.class, () -> source.lane().poll(new Completions(1)));
        assertThrows(IllegalStateException.class, () -> receiver.lane().multicast(0, 1));
        assertThrows(IllegalArgumentException.class, () -> receiver.lane().post(SLOTS, 1));
        assertThrows(IllegalArgumentException.class, () -> receiver.lane().post(0, SLOTS + 1));
    }

    /// Sends `count` full datagrams with ids from `firstId` on, one by one.
    private static void sendEach(final ContractEnd source, final long firstId, final int count) {
        for (int i = 0; i < count; i++) {
            source.multicast(firstId + i, FULL_BYTES);
        }
    }

    @Test
    void shouldMakeDatagramsThatDifferWhenIdsDo() {
        assertFalse(Arrays.equals(datagram(1, 100), datagram(2, 100)));
    }
}
