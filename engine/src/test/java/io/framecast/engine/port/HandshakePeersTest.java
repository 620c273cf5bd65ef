package io.framecast.engine.port;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.lane.SendLanePort;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// Handshakes that keep their connections where more addresses ask than there are places.
final class HandshakePeersTest {
    private static final long SECOND_NS = 1_000_000_000;

    private final Set<Integer> connected = new HashSet<>();
    private final HandshakePeers peers = new HandshakePeers(new SendLanePort() {
        private int next;

        @Override
        public int connect(final byte[] address) {
            if (address[0] < 0) {
                return NO_PEER;
            }
            connected.add(next);
            return next++;
        }

        @Override
        public void disconnect(final int peer) {
            connected.remove(peer);
        }

        @Override
        public int multicast(final int firstSlot, final int count) {
            return count;
        }

        @Override
        public int unicast(final int peer, final int firstSlot, final int count) {
            return count;
        }

        @Override
        public long submitted() {
            return 0;
        }

        @Override
        public long completed() {
            return 0;
        }
    });

    /// Whether there was a place for it.
    private boolean ask(final int address, final long nowNs, final boolean accepted) {
        final HandshakePeers.HandshakePeer peer = peers.of(new byte[] {(byte) address}, nowNs);
        if (peer != null) {
            assertTrue(connected.contains(peer.handle()));
            peer.onSent(accepted);
        }
        return peer != null;
    }

    private int handle(final int address, final long nowNs) {
        return Objects.requireNonNull(peers.of(new byte[] {(byte) address}, nowNs))
                .handle();
    }

    @Test
    void shouldGiveTheOldestPlaceWhereTheTransportConnectsAtOnce() {
        for (int i = 0; i < 100; i++) {
            assertTrue(ask(i, i, true));
            assertTrue(connected.size() <= HandshakePeers.PLACES);
        }
        assertEquals(100 - HandshakePeers.PLACES, handle(100 - HandshakePeers.PLACES, 100));
        assertEquals(100, handle(0, 100));
    }

    @Test
    void shouldKeepThoseThatAreBeingConnected() {
        for (int i = 0; i < HandshakePeers.PLACES; i++) {
            assertTrue(ask(i, 0, false));
        }
        for (int i = 0; i < 20; i++) {
            assertFalse(ask(100 - i, SECOND_NS, false));
        }
        // The fourth has both answers then, and its place is another's.
        ask(3, SECOND_NS, true);
        assertFalse(ask(50, SECOND_NS, false));
        ask(3, SECOND_NS, true);
        assertTrue(ask(50, SECOND_NS, false));
        assertFalse(connected.contains(3));
        // After two seconds without a connection the oldest goes.
        assertFalse(ask(51, 2 * SECOND_NS - 1, false));
        assertTrue(ask(51, 2 * SECOND_NS, false));
        assertFalse(connected.contains(0));
        assertEquals(HandshakePeers.PLACES, connected.size());
    }

    @Test
    void shouldPushNobodyOutForAnAddressThatIsNotOne() {
        for (int i = 0; i < HandshakePeers.PLACES; i++) {
            ask(i, 0, true);
        }
        assertFalse(ask(-1, SECOND_NS, true));
        assertEquals(0, handle(0, SECOND_NS));
        assertEquals(HandshakePeers.PLACES, connected.size());
    }
}
