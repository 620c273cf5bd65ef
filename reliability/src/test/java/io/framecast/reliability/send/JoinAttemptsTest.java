package io.framecast.reliability.send;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.receive.MachinePair;
import io.framecast.reliability.send.JoinAttempts.Obstacle;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Receivers that asked to join a source in vain.
class JoinAttemptsTest {
    private static final long SECOND = 1_000_000_000;

    private static List<Obstacle> obstacles(final JoinAttempts attempts, final long nowNs) {
        final List<Obstacle> found = new ArrayList<>();
        for (int place = 0; place < JoinAttempts.ATTEMPTS_MAX; place++) {
            if (attempts.address(place, nowNs) != null) {
                found.add(attempts.obstacle(place));
            }
        }
        return found;
    }

    @Test
    void shouldNameOneWhomNoFullSizeDatagramReaches() {
        final MachinePair pair = new MachinePair();
        pair.probesLost = true;
        pair.receiver.start(pair.nowNs);
        pair.exchange();
        assertEquals(List.of(), obstacles(pair.sender.joinAttempts(), pair.nowNs), "it has just begun");
        for (int i = 0; i < 100; i++) {
            pair.nowNs += 20_000_000;
            pair.receiver.onTick(pair.nowNs);
            pair.exchange();
        }
        final JoinAttempts attempts = pair.sender.joinAttempts();
        assertEquals(List.of(Obstacle.NO_ANSWER), obstacles(attempts, pair.nowNs));
        assertArrayEquals(MachinePair.ADDRESSES.control(), attempts.address(0, pair.nowNs));
        assertTrue(attempts.joins(0) > 3, () -> "joins " + attempts.joins(0));
        // The receiver that gave up is still in the list.
        pair.receiver.leave();
        pair.exchange();
        assertEquals(List.of(Obstacle.NO_ANSWER), obstacles(attempts, pair.nowNs));
        // The next try of the same receiver succeeds.
        pair.probesLost = false;
        pair.receiver = pair.newReceiver(9, 256, 32);
        pair.join();
        assertEquals(1, pair.sender.readyMembers());
        assertEquals(List.of(), obstacles(attempts, pair.nowNs + SECOND));
    }

    @Test
    void shouldNameOneThatWasRefusedAtOnce() {
        final MachinePair pair = new MachinePair();
        pair.receiver = pair.newReceiver(5, 8, 8);
        pair.receiver.start(pair.nowNs);
        pair.exchange();
        assertEquals(List.of(Obstacle.RING_TOO_SMALL), obstacles(pair.sender.joinAttempts(), pair.nowNs));
    }

    @Test
    void shouldForgetTheOneHeardLongestAgoWhenThereAreTooMany() {
        final JoinAttempts attempts = new JoinAttempts();
        for (int i = 0; i <= JoinAttempts.ATTEMPTS_MAX; i++) {
            attempts.onJoin(new byte[] {(byte) i}, Obstacle.FULL, 1 + i);
        }
        assertEquals(JoinAttempts.ATTEMPTS_MAX, obstacles(attempts, SECOND).size());
        final List<Byte> kept = new ArrayList<>();
        for (int place = 0; place < JoinAttempts.ATTEMPTS_MAX; place++) {
            kept.add(attempts.address(place, SECOND)[0]);
        }
        assertTrue(!kept.contains((byte) 0) && kept.contains((byte) JoinAttempts.ATTEMPTS_MAX), kept::toString);
        attempts.remove(new byte[] {5});
        assertEquals(JoinAttempts.ATTEMPTS_MAX - 1, obstacles(attempts, SECOND).size());
        assertNull(attempts.address(5, SECOND));
        assertNotNull(attempts.address(6, SECOND));
    }
}
