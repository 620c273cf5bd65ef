package io.framecast.engine.auth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.engine.auth.AuthWorld.Receiver;
import io.framecast.reliability.wire.ControlLayout;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Epochs: those who stay get the next keys without a gap, those who were evicted get nothing.
final class RekeyTest {
    private static final long SECOND_NS = 1_000_000_000;

    private static AuthWorld world(final long seed, final int receivers) {
        final AuthWorld world = new AuthWorld(seed);
        for (int i = 0; i < receivers; i++) {
            world.receiver("receiver" + i);
        }
        world.run(30 * AuthWorld.STEP_NS);
        return world;
    }

    private static int handshakeId(final AuthWorld world, final int receiver) {
        return (int) (world.receivers.get(receiver).protection.receiverId(AuthWorld.SESSION, world.random) >>> 32);
    }

    private static boolean opensGroup(final AuthWorld world, final int receiver) {
        final byte[] sealed = world.sealedToGroup(world.plain(ControlLayout.TYPE_FRAME, 0, 100));
        return world.openAt(world.receivers.get(receiver), sealed).length == 100;
    }

    private static DataKeys dataKeys(final AuthWorld world, final int receiver) {
        return Objects.requireNonNull(world.receivers.get(receiver).protection.dataKeys(AuthWorld.SESSION));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void shouldSwitchWithoutAGapUnderLoss(final long seed) {
        try (AuthWorld world = world(seed, 4)) {
            world.loss = 0.4;
            world.repeat = 0.2;
            world.delay = 0.2;
            final int evicted = handshakeId(world, 0);
            world.source.evict(evicted);
            world.source.rekey(world.nowNs, 20 * SECOND_NS, id -> id != evicted);
            final int first = world.source.dataKeys().epoch();
            int steps = 0;
            while (world.source.isRekeying()) {
                assertTrue(steps++ < 5000, "never acknowledged");
                world.step();
                for (int i = 1; i < 4; i++) {
                    assertTrue(opensGroup(world, i));
                }
            }
            assertEquals(first + 1, world.source.dataKeys().epoch());
            for (int i = 0; i < 100; i++) {
                world.step();
                for (int j = 1; j < 4; j++) {
                    assertTrue(opensGroup(world, j));
                    assertNotNull(dataKeys(world, j).key(first + 1));
                    assertEquals(first + 1, dataKeys(world, j).epoch());
                }
            }
        }
    }

    @Test
    void shouldGiveAnEvictedReceiverNothingOfTheNextEpoch() {
        try (AuthWorld world = world(7, 3)) {
            final Receiver evicted = world.first();
            final long id = evicted.protection.receiverId(AuthWorld.SESSION, world.random);
            world.source.evict((int) (id >>> 32));
            world.source.rekey(world.nowNs, SECOND_NS, _ -> true);
            evicted.hears = false;
            world.run(SECOND_NS);
            assertFalse(world.source.isRekeying());
            assertFalse(opensGroup(world, 0));
            assertNull(dataKeys(world, 0).key(world.source.dataKeys().epoch()));
            final byte[] ack = world.sealedToSource(evicted, world.plain(ControlLayout.TYPE_ACK, id, 80));
            assertEquals(0, world.openAtSource(ack).length, "nor is it heard");
            final long other = world.receivers.get(1).protection.receiverId(AuthWorld.SESSION, world.random);
            assertTrue(opensGroup(world, 1));
            final byte[] nack =
                    world.sealedToPeer(world.receivers.get(1), world.plain(ControlLayout.TYPE_NACK, other, 60), other);
            assertEquals(0, world.openAt(evicted, nack).length);
            assertTrue(opensGroup(world, 2));
            assertEquals(60, world.openAt(world.receivers.get(2), nack).length);
        }
    }

    @Test
    void shouldNotUseKeysThatWereSentToAReceiverWhichWasEvictedMeanwhile() {
        try (AuthWorld world = world(8, 3)) {
            final int before = world.source.dataKeys().epoch();
            final int second = handshakeId(world, 1);
            // The first one keeps the keys from being used.
            world.tap = (to, bytes) -> new String(to, StandardCharsets.US_ASCII).equals("receiver0") ? null : bytes;
            world.source.rekey(world.nowNs, SECOND_NS, _ -> true);
            world.run(50 * AuthWorld.STEP_NS);
            assertNotNull(dataKeys(world, 1).key(before + 1), "it has the next keys");
            assertTrue(world.source.isRekeying());
            world.source.evict(second);
            world.source.rekey(world.nowNs, SECOND_NS, _ -> true);
            world.tap = (_, bytes) -> bytes;
            world.receivers.get(1).hears = false;
            world.run(500 * AuthWorld.STEP_NS);
            assertFalse(world.source.isRekeying());
            assertEquals(before + 2, world.source.dataKeys().epoch());
            assertFalse(opensGroup(world, 1));
            assertTrue(opensGroup(world, 0));
            assertTrue(opensGroup(world, 2));
        }
    }

    @Test
    void shouldWaitForMembersAloneAndForNoneBeyondTheLimit() {
        try (AuthWorld world = world(9, 2)) {
            world.tap = (to, bytes) -> to[to.length - 1] == '0' ? null : bytes;
            final int silent = handshakeId(world, 0);
            world.source.rekey(world.nowNs, SECOND_NS, id -> id != silent);
            world.run(100 * AuthWorld.STEP_NS);
            assertFalse(world.source.isRekeying(), "the silent one is no member");
            world.source.rekey(world.nowNs, SECOND_NS, _ -> true);
            world.run(SECOND_NS - 2 * AuthWorld.STEP_NS);
            assertTrue(world.source.isRekeying());
            world.run(3 * AuthWorld.STEP_NS);
            assertFalse(world.source.isRekeying());
        }
    }

    @Test
    void shouldStopRepeatingWhereNobodyAcknowledges() {
        try (AuthWorld world = world(10, 1)) {
            world.tap = (_, _) -> null;
            world.source.rekey(world.nowNs, SECOND_NS, _ -> true);
            world.sent.clear();
            world.run(20 * SECOND_NS);
            final int sent = world.sentOf(ControlLayout.TYPE_KEYS).size();
            assertTrue(sent > 20 && sent < 50, () -> sent + " KEYS");
            assertEquals(Long.MAX_VALUE, world.source.nextDeadlineNs());
        }
    }

    @Test
    void shouldTakeThePreviousEpochForALimitedTime() {
        try (AuthWorld world = world(11, 1)) {
            final byte[] early = world.sealedToGroup(world.plain(ControlLayout.TYPE_FRAME, 0, 100));
            final byte[] late = world.sealedToGroup(world.plain(ControlLayout.TYPE_FRAME, 0, 100));
            final int before = world.source.dataKeys().epoch();
            world.source.rekey(world.nowNs, SECOND_NS, _ -> true);
            world.run(100 * AuthWorld.STEP_NS);
            assertTrue(opensGroup(world, 0));
            final long version = dataKeys(world, 0).version();
            assertEquals(100, world.openAt(world.first(), early).length);
            assertEquals(2, dataKeys(world, 0).count());
            world.run(AuthWorld.PREVIOUS_NS);
            assertEquals(0, world.openAt(world.first(), late).length);
            assertNull(dataKeys(world, 0).key(before));
            assertEquals(1, dataKeys(world, 0).count());
            assertNotEquals(version, dataKeys(world, 0).version());
        }
    }

    @Test
    void shouldGiveANewcomerTheKeysThatAreOnTheirWay() {
        try (AuthWorld world = world(12, 1)) {
            world.tap = (to, bytes) -> to[to.length - 1] == '0' ? null : bytes;
            final int silent = handshakeId(world, 0);
            world.source.rekey(world.nowNs, 10 * SECOND_NS, id -> id == silent);
            final Receiver newcomer = world.receiver("newcomer");
            world.run(200 * AuthWorld.STEP_NS);
            assertTrue(world.source.isRekeying());
            assertTrue(opensGroup(world, 1));
            assertEquals(2, dataKeys(world, 1).count());
            world.tap = (_, bytes) -> bytes;
            world.run(SECOND_NS);
            assertFalse(world.source.isRekeying());
            assertTrue(newcomer.isReady());
            assertTrue(opensGroup(world, 1));
        }
    }

    @Test
    void shouldKeepTheEpochInUseWhileManyFollow() {
        try (AuthWorld world = world(13, 2)) {
            final Receiver second = world.receivers.get(1);
            world.tap = (to, bytes) -> to[to.length - 1] == '0' ? null : bytes;
            for (int i = 0; i < 10; i++) {
                world.source.rekey(world.nowNs, 10 * SECOND_NS, _ -> true);
                world.run(30 * AuthWorld.STEP_NS);
                assertTrue(opensGroup(world, 1));
            }
            assertEquals(SourceHandshake.EPOCHS_MAX, dataKeys(world, 1).count());
            world.tap = (_, bytes) -> bytes;
            world.run(SECOND_NS);
            assertFalse(world.source.isRekeying());
            assertTrue(opensGroup(world, 1) && second.isReady());
        }
    }

    @Test
    void shouldNumberNoEpochByAMultipleOfTheHeadersRange() {
        assertEquals(1, EpochKeys.after(0));
        assertEquals(0x10001, EpochKeys.after(0xffff));
        assertEquals(1, EpochKeys.after(-1));
    }
}
