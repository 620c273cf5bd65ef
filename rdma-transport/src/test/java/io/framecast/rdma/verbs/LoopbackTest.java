package io.framecast.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.NativeException;
import io.framecast.rdma.verbs.QueuePairConfig.Limits;
import io.framecast.rdma.verbs.QueuePairConfig.Service;
import java.net.InetAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Queue pairs that ask their device for no copies of what they send, on stand-ins that can and cannot.
final class LoopbackTest {
    private static final Limits LIMITS = new Limits(DatagramEnd.SLOTS, DatagramEnd.SLOTS, 2, 3, 0);

    private final StandIn standIn = StandIn.load();
    private final Fabric fabric = Fabric.standIn();
    private final long flaggedBefore = standIn.count("flagged");

    @AfterEach
    void restore() {
        standIn.set("extended", 1);
        standIn.set("flags_refused", 0);
        assertEquals(0, fabric.library().liveHandles());
    }

    private static QueuePairConfig config(final DatagramEnd end, final Limits limits) {
        return new QueuePairConfig(Service.UD, end.completions, limits);
    }

    private QueuePair make(final DatagramEnd end) {
        return end.keep(end.domain.queuePairWithoutLoopback(config(end, LIMITS)));
    }

    private long asked() {
        return standIn.count("flagged") - flaggedBefore;
    }

    /// @return datagrams it got of two: one that it sent to the group, one that another of its device sent
    private static int received(final DatagramEnd end, final QueuePair queuePair) throws Exception {
        final Gid group = Gid.ofAddress(InetAddress.getByName("239.77.1.9"));
        queuePair.startDatagrams(1, 0, DatagramEnd.QUEUE_KEY);
        end.keep(queuePair.attach(group, 0));
        assertEquals(4, end.receives.post(queuePair, 0, 4));
        end.prepare(0, end.handleTo(group), QueuePair.MULTICAST, 8);
        end.sends.flags(0, false, false);
        assertEquals(1, end.sends.post(queuePair, 0, 1));
        assertEquals(1, end.sends.post(end.queuePair, 0, 1));
        return end.completions.poll(end.batch);
    }

    @Test
    void shouldNotHearItselfButOthersOfItsDevice() throws Exception {
        try (DatagramEnd end = new DatagramEnd(fabric, 0)) {
            final QueuePair queuePair = make(end);
            assertTrue(queuePair.blocksLoopback());
            assertEquals(LIMITS, queuePair.limits());
            assertEquals(1, received(end, queuePair));
            assertEquals(end.queuePair.number(), end.batch.sourceQueuePair(0));
            assertFalse(end.queuePair.blocksLoopback());
            assertEquals(1, asked());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {VerbsErrors.EOPNOTSUPP, VerbsErrors.EINVAL, VerbsErrors.ENOSYS, VerbsErrors.EPROTONOSUPPORT})
    void shouldDoWithoutWhereTheDeviceRefusesAndAskItOnce(final int errno) throws Exception {
        standIn.set("flags_refused", errno);
        try (DatagramEnd end = new DatagramEnd(fabric, 0)) {
            final QueuePair queuePair = make(end);
            assertFalse(queuePair.blocksLoopback());
            assertEquals(2, received(end, queuePair));
            assertFalse(make(end).blocksLoopback());
            assertEquals(1, asked());
        }
    }

    /// Contexts without the extension, and such as came before the function did.
    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void shouldDoWithoutWhereTheLibraryHasNoSuchFunction(final int extended) throws Exception {
        standIn.set("extended", extended);
        try (DatagramEnd end = new DatagramEnd(fabric, 0)) {
            final QueuePair queuePair = make(end);
            assertFalse(queuePair.blocksLoopback());
            assertEquals(2, received(end, queuePair));
            assertEquals(0, asked());
        }
    }

    @Test
    void shouldTellWhatElseIsRefused() {
        try (DatagramEnd end = new DatagramEnd(fabric, 0)) {
            standIn.fail("ibv_create_qp_ex", VerbsErrors.ENOMEM);
            final NativeException memory = assertThrows(NativeException.class, () -> make(end));
            assertEquals(
                    "ibv_create_qp_ex: errno 12, queue pair on standin0: out of lockable memory or of the device's room;"
                            + " raise ulimit -l (memlock), or use less",
                    memory.getMessage());
            final QueuePairConfig endless = config(end, new Limits(1 << 30, 1, 1, 1, 0));
            final NativeException size =
                    assertThrows(NativeException.class, () -> end.domain.queuePairWithoutLoopback(endless));
            assertEquals("ibv_create_qp", size.function());
            // A size is not the flag's fault.
            assertTrue(make(end).blocksLoopback());
        }
    }
}
