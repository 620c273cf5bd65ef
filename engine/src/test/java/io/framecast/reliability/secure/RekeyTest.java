package io.framecast.reliability.secure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.engine.crypto.SystemCrypto;
import io.framecast.reliability.secure.AuthWorld.Receiver;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo.Seal;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Epochs: members that stay get the next keys without a gap, evicted members get none.
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
            world.source.evict(evicted, _ -> false);
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
            world.source.evict((int) (id >>> 32), _ -> false);
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
    void shouldGiveANewcomerTheKeysOfWhatMayBeRepaired() {
        try (AuthWorld world = world(9, 1)) {
            final int before = world.source.dataKeys().epoch();
            final byte[] old = world.sealedToGroup(world.plain(ControlLayout.TYPE_FRAME, 0, 100));
            world.source.useWhere(() -> true, () -> 5);
            world.source.rekey(world.nowNs, SECOND_NS, _ -> true);
            world.run(SECOND_NS);
            final Receiver newcomer = world.receiver("newcomer");
            world.run(SECOND_NS);
            final DataKeys keys = dataKeys(world, 1);
            assertEquals(before + 1, keys.epoch());
            assertNotNull(keys.key(before));
            assertTrue(keys.isWithin(before, 4));
            assertFalse(keys.isWithin(before, 5));
            assertEquals(0, world.openAt(newcomer, old).length, "control datagrams of that epoch are over");
            assertTrue(opensGroup(world, 1));
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
            world.source.evict(second, _ -> false);
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

    // A datagram of the data lane, sealed by the source and opened by a receiver.
    private static boolean opensData(final AuthWorld world, final int receiver, final long sequence, final Seal seal) {
        try (Arena arena = Arena.ofConfined();
                DatagramSeals source = DatagramSeals.of(seal, world.source.dataKeys(), SystemCrypto.get())) {
            final MemorySegment datagram = sealed(arena, source, sequence);
            return opens(world, receiver, datagram, seal);
        }
    }

    private static MemorySegment sealed(final Arena arena, final DatagramSeals source, final long sequence) {
        final MemorySegment datagram = arena.allocate(DataLayout.SEALED_LENGTH + 100L, Long.BYTES);
        DataLayout.write(datagram, 0, new DataHeader().session(DataLayout.TYPE_DATA, AuthWorld.SESSION), sequence, 0);
        source.seal(datagram, 0, datagram, DataLayout.SEALED_LENGTH, 100);
        return datagram;
    }

    private static boolean opens(
            final AuthWorld world, final int receiver, final MemorySegment datagram, final Seal seal) {
        try (DatagramSeals opener = DatagramSeals.of(seal, dataKeys(world, receiver), SystemCrypto.get())) {
            return opener.open(datagram, 0, datagram, DataLayout.SEALED_LENGTH, 100);
        }
    }

    @Test
    void shouldTakeNothingFromTheGroupUnderAnEarlierEpoch() {
        try (AuthWorld world = world(11, 2)) {
            final byte[] late = world.sealedToGroup(world.plain(ControlLayout.TYPE_FRAME, 0, 100));
            world.source.rekey(world.nowNs, SECOND_NS, _ -> true);
            world.run(100 * AuthWorld.STEP_NS);
            assertTrue(opensGroup(world, 0));
            assertEquals(0, world.openAt(world.first(), late).length);
        }
    }

    @Test
    void shouldTakeMembersOfAnEarlierEpochForALimitedTime() {
        try (AuthWorld world = world(11, 2)) {
            final Receiver second = world.receivers.get(1);
            final long id = second.protection.receiverId(AuthWorld.SESSION, world.random);
            final byte[] early = world.sealedToPeer(second, world.plain(ControlLayout.TYPE_NACK, id, 60), id);
            final byte[] late = world.sealedToPeer(second, world.plain(ControlLayout.TYPE_NACK, id, 60), id);
            world.source.rekey(world.nowNs, SECOND_NS, _ -> true);
            world.run(100 * AuthWorld.STEP_NS);
            assertTrue(opensGroup(world, 0));
            assertEquals(60, world.openAt(world.first(), early).length);
            world.run(AuthWorld.PREVIOUS_NS);
            assertEquals(0, world.openAt(world.first(), late).length);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Seal.class,
            names = {"HEADER", "AES_GCM", "CHACHA20_POLY1305"})
    void shouldRepairWhatAnEarlierEpochSealedAndNothingBehindIt(final Seal seal) {
        try (Arena arena = Arena.ofConfined();
                AuthWorld world = world(14, 1);
                DatagramSeals source = DatagramSeals.of(seal, world.source.dataKeys(), SystemCrypto.get())) {
            final MemorySegment before = sealed(arena, source, AuthWorld.NEXT_SEQUENCE - 1);
            // By an evicted member, which has the key.
            final MemorySegment behind = sealed(arena, source, AuthWorld.NEXT_SEQUENCE);
            world.source.rekey(world.nowNs, SECOND_NS, _ -> true);
            world.run(100 * AuthWorld.STEP_NS);
            world.run(10 * AuthWorld.PREVIOUS_NS);
            assertTrue(opens(world, 0, before, seal), "a repair, however late");
            assertFalse(opens(world, 0, behind, seal));
            assertTrue(opensData(world, 0, AuthWorld.NEXT_SEQUENCE, seal));
        }
    }

    @Test
    void shouldKeepTheKeysOfTwoEpochs() {
        try (AuthWorld world = world(15, 1)) {
            for (int i = 0; i < 5; i++) {
                world.source.rekey(world.nowNs, SECOND_NS, _ -> true);
                world.run(100 * AuthWorld.STEP_NS);
                assertTrue(opensGroup(world, 0));
                assertEquals(2, dataKeys(world, 0).count());
            }
        }
    }

    @Test
    void shouldNotUseTheNextKeysWhileTheWindowHoldsTwoEpochs() {
        try (AuthWorld world = world(16, 1)) {
            final boolean[] passed = {false};
            final int before = world.source.dataKeys().epoch();
            world.source.useWhere(() -> passed[0], () -> 0);
            world.source.rekey(world.nowNs, SECOND_NS, _ -> true);
            world.run(3 * SECOND_NS);
            assertEquals(before, world.source.dataKeys().epoch());
            assertTrue(opensGroup(world, 0));
            passed[0] = true;
            world.run(100 * AuthWorld.STEP_NS);
            assertEquals(before + 1, world.source.dataKeys().epoch());
            assertTrue(opensGroup(world, 0));
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Seal.class,
            names = {"AES_GCM", "CHACHA20_POLY1305"})
    void shouldHideFromAnEvictedReceiverWhatIsSentAfterTheRekey(final Seal seal) {
        try (AuthWorld world = world(17, 2)) {
            assertTrue(opensData(world, 0, 5, seal));
            final int evicted = handshakeId(world, 0);
            world.source.evict(evicted, _ -> false);
            world.source.rekey(world.nowNs, SECOND_NS, id -> id != evicted);
            world.run(100 * AuthWorld.STEP_NS);
            assertFalse(world.source.isRekeying());
            assertFalse(opensData(world, 0, 6, seal));
            assertTrue(opensData(world, 1, 6, seal));
            // With one key for all it may come again: SECURITY.md says so.
            world.first().protection.forget(AuthWorld.SESSION);
            world.run(SECOND_NS);
            assertTrue(world.first().isReady());
            assertTrue(opensData(world, 0, 7, seal));
        }
    }

    @Test
    void shouldKeepNoHandshakeOfOneThatLeftLongAgo() {
        try (AuthWorld world = world(18, 2)) {
            final int left = handshakeId(world, 0);
            world.source.rekey(world.nowNs, SECOND_NS, id -> id != left);
            assertTrue(world.source.hasHandshake(left), "it may be joining");
            world.run(11 * SECOND_NS);
            world.source.rekey(world.nowNs, SECOND_NS, id -> id != left);
            assertFalse(world.source.hasHandshake(left));
            world.run(100 * AuthWorld.STEP_NS);
            assertFalse(opensGroup(world, 0));
            assertTrue(opensGroup(world, 1));
        }
    }

    @Test
    void shouldNotWaitForEverWhereEvictionsFollowOneAnother() {
        try (AuthWorld world = world(19, 2)) {
            world.tap = (to, bytes) -> to[to.length - 1] == '0' ? null : bytes;
            final int before = world.source.dataKeys().epoch();
            for (int i = 0; i < 4; i++) {
                world.source.rekey(world.nowNs, SECOND_NS, _ -> true);
                world.run(SECOND_NS * 6 / 10);
            }
            assertTrue(world.source.dataKeys().epoch() > before);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"HEADER", "AES_GCM"})
    void shouldEndAnEpochWhereDataOfTheNextOneBegin(final Seal seal) {
        try (AuthWorld world = world(20, 1);
                Arena arena = Arena.ofConfined();
                DatagramSeals source = DatagramSeals.of(seal, world.source.dataKeys(), SystemCrypto.get())) {
            final MemorySegment early = sealed(arena, source, 2);
            final MemorySegment forged = sealed(arena, source, 3);
            world.source.rekey(world.nowNs, SECOND_NS, _ -> true);
            while (world.source.isRekeying()) {
                // Without heartbeats.
                world.step();
            }
            assertTrue(opensData(world, 0, 3, seal));
            assertTrue(opens(world, 0, early, seal));
            assertFalse(opens(world, 0, forged, seal));
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
            assertEquals(2, dataKeys(world, 1).count(), "the one in use and the newest");
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
