package io.framecast.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// [DatagramContract] on the stand-in, and what only the stand-in can count.
@NeedsGcc
final class StandInDatagramTest extends DatagramContract {
    private StandIn standIn;
    private long nativeBefore;

    @Override
    Fabric fabric() {
        standIn = StandIn.load();
        nativeBefore = standIn.count("live");
        return Fabric.standIn();
    }

    @AfterEach
    @Override
    void close() throws Exception {
        super.close();
        assertEquals(nativeBefore, standIn.count("live"));
    }

    @Test
    void shouldCountWhatIsSwallowedAndOverrun() {
        final long swallowed = standIn.count("swallowed");
        final long overruns = standIn.count("overruns");
        final DatagramEnd source = end(0);
        final DatagramEnd peer = end(1);
        source.prepare(0, source.handleTo(peer.gid.gid()), peer.queuePair.number(), 4096);
        send(source);
        assertEquals(swallowed + 1, standIn.count("swallowed"));
        source.prepare(0, source.handleTo(peer.gid.gid()), peer.queuePair.number(), 1);
        send(source);
        assertEquals(overruns + 1, standIn.count("overruns"));
    }

    @Test
    void shouldTakeAsManySendsAsFitUntilOneIsPolled() {
        final DatagramEnd source = end(0);
        final AddressHandle handle = source.handleTo(source.gid.gid());
        for (int i = 0; i < DatagramEnd.SLOTS; i++) {
            source.prepare(i, handle, source.queuePair.number(), 1);
            // Only one of eight asks for a completion.
            source.sends.flags(i, i % 8 == 7, false);
        }
        assertEquals(10, source.sends.post(source.queuePair, 12, 10));
        assertEquals(6, source.sends.post(source.queuePair, 6, 10));
        assertEquals(0, source.sends.post(source.queuePair, 12, 1));
        // Slot 15 was the fourth request and slot 7 the twelfth: what came before them is done, too.
        assertEquals(2, source.completions.poll(source.batch));
        assertEquals(15, source.batch.request(0));
        assertEquals(7, source.batch.request(1));
        assertEquals(12, source.sends.post(source.queuePair, 8, 15));
    }

    @Test
    void shouldRefuseToSendWhenTheAddressHandleIsClosed() {
        final DatagramEnd source = end(0);
        final AddressHandle handle = source.domain.addressHandle(Fabric.path(source.gid, source.gid.gid()));
        source.prepare(1, handle, source.queuePair.number(), 1);
        source.prepare(0, source.handleTo(source.gid.gid()), source.queuePair.number(), 1);
        handle.close();
        assertEquals(1, source.sends.post(source.queuePair, 0, 1));
        final IllegalStateException e =
                assertThrows(IllegalStateException.class, () -> source.sends.post(source.queuePair, 0, 2));
        assertEquals("verbs: address handle to " + source.gid.gid() + " is closed", e.getMessage());
        assertThrows(IllegalStateException.class, () -> source.sends.post(source.queuePair, 8, 10));
    }
}
