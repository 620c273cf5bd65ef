package io.framecast.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.NativeException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Datagrams by queue pair and by group, on whatever devices there are: the stand-in or real ones.
abstract class DatagramContract {
    private static final int PAYLOAD = 1000;

    private final List<DatagramEnd> ends = new ArrayList<>();
    Fabric fabric;
    private int liveBefore;

    abstract Fabric fabric();

    @BeforeEach
    void open() {
        fabric = fabric();
        liveBefore = fabric.library().liveHandles();
    }

    @AfterEach
    void close() throws Exception {
        for (final DatagramEnd end : ends.reversed()) {
            end.close();
        }
        assertEquals(liveBefore, fabric == null ? liveBefore : fabric.library().liveHandles());
    }

    DatagramEnd end(final int device) {
        final DatagramEnd end = new DatagramEnd(fabric, device);
        ends.add(end);
        return end;
    }

    static InetAddress group(final int last) throws Exception {
        return InetAddress.getByAddress(new byte[] {(byte) 239, 77, 1, (byte) last});
    }

    /// Sends slot 0 and waits until it is gone.
    static void send(final DatagramEnd end) {
        assertEquals(1, end.sends.post(end.queuePair, 0, 1));
        awaitSent(end);
    }

    private static void awaitSent(final DatagramEnd end) {
        assertEquals(1, end.await());
        assertTrue(end.batch.isSuccess(0), () -> CompletionStatus.describe(end.batch.status(0)));
    }

    // The event may come a little after its completion.
    private static void awaitSignal(final DatagramEnd end) {
        final long startNs = System.nanoTime();
        int signals = 0;
        while (signals == 0 && System.nanoTime() - startNs < DatagramEnd.PATIENCE_NS) {
            signals = end.channel.drain();
        }
        assertEquals(1, signals);
    }

    static void assertReceived(final DatagramEnd end, final DatagramEnd source, final int slot, final int payload) {
        assertEquals(1, end.await());
        final WorkCompletions batch = end.batch;
        assertTrue(batch.isSuccess(0), () -> CompletionStatus.describe(batch.status(0)));
        assertEquals(slot, (int) batch.request(0));
        assertEquals(DatagramEnd.ROUTING_BYTES + DatagramEnd.HEADER_BYTES + payload, batch.bytes(0));
        assertEquals(end.queuePair.number(), batch.queuePair(0));
        assertEquals(source.queuePair.number(), batch.sourceQueuePair(0));
        assertTrue(end.holds(slot, payload), "header or payload differ");
    }

    @Test
    void shouldScatterAGroupsDatagramWhenSeveralAreMembers() throws Exception {
        final DatagramEnd source = end(0);
        final DatagramEnd first = end(1);
        final DatagramEnd second = end(2);
        final DatagramEnd stranger = end(2);
        for (final DatagramEnd member : List.of(first, second, stranger)) {
            assertEquals(4, member.receives.post(member.queuePair, 0, 4));
        }
        first.join(group(1));
        second.join(group(1));
        stranger.join(group(2));
        source.prepare(0, source.handleTo(Gid.ofAddress(group(1))), QueuePair.MULTICAST, PAYLOAD);
        send(source);
        assertReceived(first, source, 0, PAYLOAD);
        assertReceived(second, source, 0, PAYLOAD);
        send(source);
        assertReceived(second, source, 1, PAYLOAD);
        assertReceived(first, source, 1, PAYLOAD);
        assertEquals(0, stranger.completions.poll(stranger.batch));
        // Over IPv4 the routing header ends with the sender's address and the group's.
        final byte[] routing = first.routing
                .asSlice(DatagramEnd.ROUTING_BYTES - 8, 8)
                .toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
        assertEquals(source.gid.gid().toAddress(), InetAddress.getByAddress(java.util.Arrays.copyOf(routing, 4)));
        assertEquals(group(1), InetAddress.getByAddress(java.util.Arrays.copyOfRange(routing, 4, 8)));
    }

    @Test
    void shouldReachOneQueuePairWhenSentToItsNumber() {
        final DatagramEnd source = end(0);
        final DatagramEnd peer = end(1);
        assertEquals(2, peer.receives.post(peer.queuePair, 3, 2));
        source.prepare(0, source.handleTo(peer.gid.gid()), peer.queuePair.number(), 1);
        send(source);
        assertReceived(peer, source, 3, 1);
    }

    @Test
    void shouldStopReceivingWhenAGroupIsLeft() throws Exception {
        final DatagramEnd source = end(0);
        final DatagramEnd member = end(1);
        assertEquals(4, member.receives.post(member.queuePair, 0, 4));
        final AddressHandle toGroup = source.handleTo(Gid.ofAddress(group(3)));
        try (GroupMembership _ = GroupMembership.join(group(3), member.gid.interfaceIndex());
                MulticastAttachment _ = member.queuePair.attach(Gid.ofAddress(group(3)), 0)) {
            source.prepare(0, toGroup, QueuePair.MULTICAST, PAYLOAD);
            send(source);
            assertReceived(member, source, 0, PAYLOAD);
        }
        send(source);
        // The datagram that comes by number shows that none came by the group before.
        source.prepare(0, source.handleTo(member.gid.gid()), member.queuePair.number(), 7);
        send(source);
        assertReceived(member, source, 1, 7);
    }

    /// Attached to it, Soft-RoCE says nothing and receives nothing.
    @Test
    void shouldRefuseAGroupOfIpv4AsRoceV1WritesIt() throws Exception {
        final DatagramEnd member = end(1);
        final Gid wrong = new Gid(0xff0eL << 48, Gid.ofAddress(group(4)).low());
        final IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> member.queuePair.attach(wrong, 0));
        assertEquals(
                "queue pair: expected ::ffff:239.77.1.4, as RoCE v2 has that group of IPv4, got"
                        + " ff0e:0000:0000:0000:0000:ffff:ef4d:0104, by which nothing would come",
                e.getMessage());
        assertEquals(0, member.queuePair.dependants());
        // Groups of IPv6, however near.
        for (final String name : List.of("ff0e::1234:5678", "ff0e::ffff:c0a8:1", "ff0e::1:ffff:ef4d:104", "ff05::1")) {
            member.queuePair
                    .attach(Gid.ofAddress(InetAddress.getByName(name)), 0)
                    .close();
        }
    }

    @Test
    void shouldLoseWithoutErrorWhenNoReceiveIsPosted() {
        final DatagramEnd source = end(0);
        final DatagramEnd peer = end(1);
        assertEquals(1, peer.receives.post(peer.queuePair, 0, 1));
        final AddressHandle handle = source.handleTo(peer.gid.gid());
        for (int i = 0; i < 3; i++) {
            source.prepare(i, handle, peer.queuePair.number(), 10);
            source.sends.flags(i, i == 2, false);
        }
        assertEquals(3, source.sends.post(source.queuePair, 0, 3));
        awaitSent(source);
        assertReceived(peer, source, 0, 10);
        assertEquals(1, peer.receives.post(peer.queuePair, 1, 1));
        source.prepare(0, handle, peer.queuePair.number(), 40);
        source.sends.flags(0, true, false);
        send(source);
        assertReceived(peer, source, 1, 40);
    }

    @Test
    void shouldSwallowWhenLongerThanTheMtu() {
        final DatagramEnd source = end(0);
        final DatagramEnd peer = end(1);
        final int mtu = source.context.port(1).mtu().activeBytes();
        assertEquals(2, peer.receives.post(peer.queuePair, 0, 2));
        final AddressHandle handle = source.handleTo(peer.gid.gid());
        source.prepare(0, handle, peer.queuePair.number(), mtu - DatagramEnd.HEADER_BYTES + 1);
        assertEquals(mtu + 1, source.sends.bytes(0));
        send(source);
        source.prepare(0, handle, peer.queuePair.number(), mtu - DatagramEnd.HEADER_BYTES);
        send(source);
        assertReceived(peer, source, 0, mtu - DatagramEnd.HEADER_BYTES);
    }

    @Test
    void shouldDropWhenTheQueueKeyIsAnother() {
        final DatagramEnd source = end(0);
        final DatagramEnd peer = end(1);
        assertEquals(1, peer.receives.post(peer.queuePair, 0, 1));
        final AddressHandle handle = source.handleTo(peer.gid.gid());
        source.sends.datagram(0, handle, peer.queuePair.number(), DatagramEnd.QUEUE_KEY + 1);
        send(source);
        source.prepare(0, handle, peer.queuePair.number(), 5);
        send(source);
        assertReceived(peer, source, 0, 5);
    }

    @Test
    void shouldTakeInlineDataAtOnce() {
        final DatagramEnd source = end(0);
        final DatagramEnd peer = end(1);
        assertEquals(1, peer.receives.post(peer.queuePair, 0, 1));
        // Memory that no region knows.
        final MemorySegment loose = source.arena.allocate(64);
        MemorySegment.copy(source.sent, 0, loose, 0, 64);
        source.prepare(0, source.handleTo(peer.gid.gid()), peer.queuePair.number(), 30);
        source.sends.element(0, 0, loose.address(), DatagramEnd.HEADER_BYTES, 0);
        source.sends.element(0, 1, loose.address() + DatagramEnd.HEADER_BYTES, 30, 0);
        source.sends.flags(0, true, true);
        assertEquals(1, source.sends.post(source.queuePair, 0, 1));
        loose.fill((byte) 0);
        awaitSent(source);
        assertReceived(peer, source, 0, 30);
    }

    @Test
    void shouldTakeAsManyReceivesAsFitAndWrapAround() {
        final DatagramEnd end = end(0);
        final int room = end.queuePair.limits().receives();
        int posted = end.receives.post(end.queuePair, DatagramEnd.SLOTS - 2, DatagramEnd.SLOTS);
        assertEquals(DatagramEnd.SLOTS, posted);
        int last = posted;
        // A device may have given more room than asked for, but not without end.
        while (last > 0 && posted <= room) {
            last = end.receives.post(end.queuePair, 5, DatagramEnd.SLOTS);
            posted += last;
        }
        assertEquals(room, posted);
        end.queuePair.fail();
        int flushed = 0;
        while (flushed < posted) {
            final int count = end.await();
            for (int i = 0; i < count; i++, flushed++) {
                assertEquals(VerbsConstants.IBV_WC_WR_FLUSH_ERR, end.batch.status(i));
                final int slot = flushed < DatagramEnd.SLOTS ? DatagramEnd.SLOTS - 2 + flushed : 5 + flushed;
                assertEquals(slot % DatagramEnd.SLOTS, (int) end.batch.request(i));
            }
        }
    }

    @Test
    void shouldRefuseToSendBeforeItIsReady() {
        final DatagramEnd end = end(0);
        end.prepare(0, end.handleTo(end(1).gid.gid()), end.queuePair.number(), 1);
        end.queuePair.reset();
        assertEquals(QueuePair.State.RESET, end.queuePair.state());
        final NativeException e = assertThrows(NativeException.class, () -> end.sends.post(end.queuePair, 0, 1));
        assertEquals("ibv_post_send", e.function());
        end.queuePair.startDatagrams(1, 0, DatagramEnd.QUEUE_KEY);
        assertEquals(QueuePair.State.RTS, end.queuePair.state());
        assertEquals(1, end.receives.post(end.queuePair, 0, 1));
        assertEquals(1, end.sends.post(end.queuePair, 0, 1));
    }

    @Test
    void shouldWakeWhenArmed() {
        final DatagramEnd source = end(0);
        final DatagramEnd peer = end(1);
        assertEquals(4, peer.receives.post(peer.queuePair, 0, 4));
        assertEquals(0, peer.channel.drain());
        source.prepare(0, source.handleTo(peer.gid.gid()), peer.queuePair.number(), 9);
        peer.completions.arm();
        send(source);
        assertReceived(peer, source, 0, 9);
        assertTrue(peer.channel.descriptor() >= 0);
        awaitSignal(peer);
        // One signal: the next completion causes none unless the queue is armed again.
        send(source);
        assertReceived(peer, source, 1, 9);
        assertEquals(0, peer.channel.drain());
        peer.completions.arm();
        send(source);
        assertReceived(peer, source, 2, 9);
        awaitSignal(peer);
    }

    @Test
    void shouldFailTheSendWhenItsRegionIsClosed() {
        final DatagramEnd source = end(0);
        source.prepare(0, source.handleTo(end(1).gid.gid()), source.queuePair.number(), 5);
        final MemorySegment memory = source.arena.allocate(64);
        final MemoryRegion region = source.domain.register(memory, Access.LOCAL_READ);
        source.sends.element(0, 0, memory.address(), 20, region.localKey());
        region.close();
        int status = VerbsConstants.IBV_WC_LOC_PROT_ERR;
        try {
            assertEquals(1, source.sends.post(source.queuePair, 0, 1));
            assertEquals(1, source.await());
            status = source.batch.status(0);
        } catch (final NativeException e) {
            // Some drivers look when it is posted.
            assertEquals("ibv_post_send", e.function());
        }
        // Soft-RoCE says that it was flushed.
        assertTrue(
                status == VerbsConstants.IBV_WC_LOC_PROT_ERR || status == VerbsConstants.IBV_WC_WR_FLUSH_ERR,
                "" + status);
    }
}
