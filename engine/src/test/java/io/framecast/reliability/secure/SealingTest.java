package io.framecast.reliability.secure;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import io.framecast.engine.crypto.SystemCrypto;
import io.framecast.engine.libc.Libcrypto;
import io.framecast.reliability.crypto.Cipher;
import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.secure.AuthWorld.Receiver;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.Verdict;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Control datagrams that were sealed by one end and opened by another.
final class SealingTest {
    // Seals a datagram at one end.
    private interface Sealer {
        byte[] seal(byte[] plain);
    }

    private interface Opener {
        byte[] open(byte[] sealed);
    }

    // The sealing end, the opening end, and the receiver's id in the header.
    private record Direction(
            String name, long receiver, Sealer sealer, Opener opener, Counts<ProtectionEvent> counts) {}

    private static List<Direction> directions(final AuthWorld world) {
        final Receiver first = world.first();
        final Receiver second = world.receivers.get(1);
        final long id = first.protection.receiverId(AuthWorld.SESSION, world.random);
        return List.of(
                new Direction(
                        "group",
                        0,
                        world::sealedToGroup,
                        given -> world.openAt(first, given),
                        first.protection.counts()),
                new Direction(
                        "to member",
                        id,
                        world::sealedToMember,
                        given -> world.openAt(first, given),
                        first.protection.counts()),
                new Direction(
                        "to source",
                        id,
                        plain -> world.sealedToSource(first, plain),
                        world::openAtSource,
                        world.source.counts()),
                new Direction(
                        "between members",
                        id,
                        plain -> world.sealedToPeer(first, plain, id),
                        given -> world.openAt(second, given),
                        second.protection.counts()));
    }

    private static AuthWorld two(final long seed) {
        final AuthWorld world = new AuthWorld(seed);
        world.receiver("receiver1");
        world.receiver("receiver2");
        world.run(20 * AuthWorld.STEP_NS);
        return world;
    }

    // The plain datagram with the counter of the sealed one.
    private static byte[] expected(final byte[] plain, final byte[] sealed) {
        final byte[] counted = plain.clone();
        System.arraycopy(sealed, 32, counted, 32, Long.BYTES);
        return AuthWorld.complete(counted);
    }

    private static Verdict check(final byte[] datagram) {
        return ControlLayout.check(MemorySegment.ofArray(datagram), 0, datagram.length, new HeaderChecksum());
    }

    @Test
    void shouldOpenWhatWasSealedOfEveryTypeAndLength() {
        try (AuthWorld world = two(1)) {
            for (final Direction direction : directions(world)) {
                for (int type = ControlLayout.TYPE_HEARTBEAT; type <= ControlLayout.TYPE_FORMAT_ACK; type++) {
                    for (final int bytes : new int[] {ControlLayout.LENGTH, 41, 200, AuthWorld.longest(type)}) {
                        final byte[] plain = world.plain(type, direction.receiver, bytes);
                        if (bytes == Wire.CONTROL_BYTES_MAX) {
                            Arrays.fill(plain, 48, bytes, (byte) 0);
                            AuthWorld.complete(plain);
                        }
                        final byte[] sealed = direction.sealer.seal(plain.clone());
                        final int trailer = direction.name.equals("between members") ? 24 : 16;
                        assertEquals(Math.min(bytes + trailer, Wire.CONTROL_BYTES_MAX), sealed.length);
                        assertEquals(Verdict.BAD_LENGTH, check(sealed), "no parser takes it");
                        final byte[] opened = direction.opener.open(sealed);
                        assertArrayEquals(expected(plain, sealed), opened, direction.name + " type " + type);
                        assertEquals(Verdict.GOOD, check(opened));
                    }
                }
            }
        }
    }

    @Test
    void shouldHideBodiesButForTheGroupsHeartbeat() {
        try (AuthWorld world = two(2)) {
            for (final Direction direction : directions(world)) {
                final byte[] plain = world.plain(ControlLayout.TYPE_RC_CONNECT, direction.receiver, 160);
                final byte[] sealed = direction.sealer.seal(plain.clone());
                assertFalse(Arrays.equals(HandshakeTest.body(plain), Arrays.copyOfRange(sealed, 40, 160)));
            }
            final byte[] heartbeat = world.heartbeat();
            final byte[] sealed = world.sealedToGroup(heartbeat);
            assertArrayEquals(
                    HandshakeTest.body(heartbeat), Arrays.copyOfRange(sealed, ControlLayout.LENGTH, heartbeat.length));
        }
    }

    @Test
    void shouldOpenEachDatagramOnce() {
        try (AuthWorld world = two(3)) {
            for (final Direction direction : directions(world)) {
                final byte[] sealed =
                        direction.sealer.seal(world.plain(ControlLayout.TYPE_ACK, direction.receiver, 80));
                assertEquals(80, direction.opener.open(sealed).length);
                final long before = direction.counts.get(ProtectionEvent.REPLAYED);
                assertEquals(0, direction.opener.open(sealed).length);
                assertEquals(before + 1, direction.counts.get(ProtectionEvent.REPLAYED), direction.name);
            }
        }
    }

    @Test
    void shouldOpenInAnyOrderWithinTheWindow() {
        try (AuthWorld world = two(4)) {
            for (final Direction direction : directions(world)) {
                final List<byte[]> sealed = new ArrayList<>();
                for (int i = 0; i < ReplayWindow.COUNTERS + 1; i++) {
                    sealed.add(direction.sealer.seal(world.plain(ControlLayout.TYPE_ACK, direction.receiver, 80)));
                }
                final byte[] oldest = sealed.removeFirst();
                Collections.shuffle(sealed, new Random(4));
                for (final byte[] each : sealed) {
                    assertEquals(80, direction.opener.open(each).length, direction.name);
                }
                assertEquals(0, direction.opener.open(oldest).length, "too old to know");
            }
        }
    }

    @Test
    void shouldOpenNothingThatWasAlteredOrCut() {
        try (AuthWorld world = two(5)) {
            for (final Direction direction : directions(world)) {
                final byte[] sealed =
                        direction.sealer.seal(world.plain(ControlLayout.TYPE_NACK, direction.receiver, 60));
                for (int i = 0; i < sealed.length; i++) {
                    world.nowNs += 10 * AuthWorld.STEP_NS;
                    final byte[] altered = sealed.clone();
                    altered[i] ^= 4;
                    assertEquals(0, direction.opener.open(altered.clone()).length);
                    if (i < 2 || i >= 8) {
                        final int at = i;
                        assertEquals(
                                0,
                                direction.opener.open(AuthWorld.complete(altered)).length,
                                () -> direction.name + " at " + at);
                    }
                }
                for (int bytes = 0; bytes < sealed.length; bytes++) {
                    world.nowNs += 10 * AuthWorld.STEP_NS;
                    final byte[] cut = Arrays.copyOf(sealed, bytes);
                    assertEquals(0, direction.opener.open(cut.clone()).length);
                    if (bytes >= ControlLayout.LENGTH) {
                        assertEquals(0, direction.opener.open(AuthWorld.complete(cut)).length);
                    }
                }
                assertEquals(60, direction.opener.open(sealed).length, "and the datagram itself still counts");
            }
        }
    }

    @Test
    void shouldOpenNothingOfAnotherSessionOrDirection() {
        try (AuthWorld world = two(6);
                AuthWorld other = two(7)) {
            final List<Direction> here = directions(world);
            final List<Direction> there = directions(other);
            for (int i = 0; i < here.size(); i++) {
                final Direction direction = here.get(i);
                for (int j = 0; j < here.size(); j++) {
                    final byte[] foreign =
                            there.get(j).sealer.seal(other.plain(ControlLayout.TYPE_ACK, there.get(j).receiver, 80));
                    assertEquals(0, direction.opener.open(foreign).length);
                    System.arraycopy(longBytes(direction.receiver), 0, foreign, 16, 8);
                    assertEquals(0, direction.opener.open(AuthWorld.complete(foreign)).length);
                    if (i != j) {
                        final byte[] own =
                                here.get(j).sealer.seal(world.plain(ControlLayout.TYPE_ACK, here.get(j).receiver, 80));
                        // The first receiver opens what is to it and to the group, the second one that to the group.
                        final boolean isForIt = (i < 2 && j < 2) || (i == 3 && j == 0);
                        assertEquals(isForIt ? 80 : 0, direction.opener.open(own).length, i + " " + j);
                    }
                }
            }
        }
    }

    private static byte[] longBytes(final long value) {
        final byte[] bytes = new byte[Long.BYTES];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (value >>> (8 * i));
        }
        return bytes;
    }

    @Test
    void shouldOpenNothingThatIsPlain() {
        try (AuthWorld world = two(8)) {
            for (int type = 0; type < 20; type++) {
                assertEquals(0, world.openAtSource(world.plain(type, 5, 200)).length);
                assertEquals(0, world.openAt(world.first(), world.plain(type, 0, 200)).length);
            }
            assertEquals(20, world.source.counts().get(ProtectionEvent.PLAIN));
            assertEquals(20, world.first().protection.counts().get(ProtectionEvent.PLAIN));
        }
    }

    @Test
    void shouldOpenOnlyWhatIsAddressedToTheHandshake() {
        try (AuthWorld world = two(9)) {
            final Receiver second = world.receivers.get(1);
            final long id = world.first().protection.receiverId(AuthWorld.SESSION, world.random);
            final byte[] sealed = world.sealedToMember(world.plain(ControlLayout.TYPE_START, id, 64));
            assertEquals(0, world.openAt(second, sealed).length);
            assertEquals(1, second.protection.counts().get(ProtectionEvent.NO_KEY) - strange(second));
            assertEquals(
                    0,
                    world.sealedToSource(second, world.plain(ControlLayout.TYPE_ACK, id, 80)).length,
                    "nor is an id of another one sealed");
            assertEquals(0, world.sealedToPeer(second, world.plain(ControlLayout.TYPE_ACK, id, 80), id).length);
        }
    }

    // The heartbeat with which the handshake began had no key either.
    private static long strange(final Receiver receiver) {
        return receiver.heartbeats.size();
    }

    /// A receiver without a place at the source gets its notice by multicast: the source has no address of it.
    @Test
    void shouldBeOpenedByTheReceiverThatItNamesWhenItGoesToAll() {
        try (AuthWorld world = two(9)) {
            final Receiver first = world.first();
            final long id = first.protection.receiverId(AuthWorld.SESSION, world.random);
            final byte[] plain = world.plain(ControlLayout.TYPE_EVICT, id, 48);

            final byte[] sealed = world.sealedToGroup(plain.clone());

            assertArrayEquals(expected(plain, sealed), world.openAt(first, sealed));
            assertEquals(0, world.openAt(world.receivers.get(1), sealed).length);
        }
    }

    @Test
    void shouldNotOpenItsOwnDatagramsThatCameBack() {
        try (AuthWorld world = two(10)) {
            final long id = world.first().protection.receiverId(AuthWorld.SESSION, world.random);
            final byte[] sealed = world.sealedToPeer(world.first(), world.plain(ControlLayout.TYPE_ACK, id, 80), id);
            assertEquals(0, world.openAt(world.first(), sealed).length);
            assertEquals(80, world.openAt(world.receivers.get(1), sealed).length);
            assertEquals(id, world.receivers.get(1).protection.sender());
        }
    }

    @Test
    void shouldUseNoNonceTwiceWhereAReceiverJoinsAgainUnderAnotherId() {
        try (AuthWorld world = two(11)) {
            final long one = world.first().protection.receiverId(AuthWorld.SESSION, world.random);
            final long two = world.first().protection.receiverId(AuthWorld.SESSION, world.random);
            final byte[] before = world.sealedToSource(world.first(), world.plain(ControlLayout.TYPE_JOIN, one, 126));
            // Each membership writes counters of its own, from 1 on.
            final byte[] after = world.sealedToSource(world.first(), world.plain(ControlLayout.TYPE_JOIN, two, 126));
            assertFalse(Arrays.equals(Arrays.copyOfRange(before, 32, 40), Arrays.copyOfRange(after, 32, 40)));
            assertEquals(126, world.openAtSource(before).length);
            assertEquals(126, world.openAtSource(after).length);
        }
    }

    @Test
    void shouldSealNothingThatHasNoRoomForTheTag() {
        try (AuthWorld world = two(12)) {
            final long id = world.first().protection.receiverId(AuthWorld.SESSION, world.random);
            assertEquals(0, world.sealedToMember(world.plain(ControlLayout.TYPE_NACK, id, 1185)).length);
            assertEquals(1200, world.sealedToMember(world.plain(ControlLayout.TYPE_NACK, id, 1184)).length);
            assertEquals(
                    0, world.sealedToPeer(world.first(), world.plain(ControlLayout.TYPE_NACK, id, 1177), id).length);
        }
    }

    @Test
    void shouldSealNothingBehindTheLimitOfAKey() {
        try (AuthWorld world = new AuthWorld(13)) {
            final Counts<ProtectionEvent> counts = new Counts<>(ProtectionEvent.class);
            final ControlSealer sealer = new ControlSealer(counts);
            try (ControlKey key = new ControlKey(
                    SystemCrypto.get(),
                    SecretBytes.random(world.random, Cipher.KEY_BYTES),
                    ControlNonce.MEMBER_TO_SOURCE,
                    new ControlKey.SealCounter(ControlKey.DATAGRAMS_MAX - 1))) {
                final byte[] plain = world.plain(ControlLayout.TYPE_ACK, 1, 80);
                world.fill(plain);
                final MemorySegment datagram = world.memory.asSlice(1216);
                assertEquals(96, sealer.seal(key, 0, datagram, 80));
                world.fill(plain);
                assertEquals(0, sealer.seal(key, 0, datagram, 80));
                assertEquals(1, counts.get(ProtectionEvent.EXHAUSTED));
            }
        }
    }

    @Test
    void shouldLimitUnknownSendersAndKeepNoneOfThem() {
        try (AuthWorld world = two(14)) {
            final Receiver second = world.receivers.get(1);
            final long id = world.first().protection.receiverId(AuthWorld.SESSION, world.random);
            final byte[] sealed = world.sealedToPeer(world.first(), world.plain(ControlLayout.TYPE_ACK, id, 80), id);
            for (int i = 1; i < 1000; i++) {
                final byte[] forged = sealed.clone();
                forged[80] ^= (byte) i;
                forged[81] ^= (byte) (i >> 8);
                assertEquals(0, world.openAt(second, AuthWorld.complete(forged)).length);
            }
            assertTrue(second.protection.counts().get(ProtectionEvent.LIMITED) > 900);
            world.nowNs += 10 * AuthWorld.STEP_NS;
            assertEquals(80, world.openAt(second, sealed).length);
        }
    }

    @Test
    void shouldAllocateNothingForADatagram() {
        assumeTrue(Libcrypto.isPresent(), "the JDK's ciphers allocate");
        try (AuthWorld world = two(15)) {
            final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            final long id = world.first().protection.receiverId(AuthWorld.SESSION, world.random);
            final MemorySegment datagram = world.memory;
            final byte[] plain = world.plain(ControlLayout.TYPE_ACK, id, 80);
            MemorySegment.copy(MemorySegment.ofArray(plain), 0, datagram, 0, plain.length);
            final long[] bytes = new long[2];
            for (int round = 0; round < 2; round++) {
                final long before = threads.getCurrentThreadAllocatedBytes();
                exchange(world, datagram, id, 30_000);
                bytes[round] = threads.getCurrentThreadAllocatedBytes() - before;
            }
            assertTrue(bytes[1] < 1000, () -> bytes[1] + " bytes");
        }
    }

    private static void exchange(final AuthWorld world, final MemorySegment datagram, final long id, final int times) {
        final ReceiverProtection first = world.first().protection;
        final ReceiverProtection second = world.receivers.get(1).protection;
        for (int i = 0; i < times; i++) {
            int bytes = first.sealToPeer(datagram, 80);
            bytes = world.source.open(datagram, 0, bytes, world.nowNs);
            bytes = world.source.sealToPeer(datagram, bytes);
            bytes = first.open(datagram, 0, bytes, world.nowNs);
            bytes = first.sealToMember(datagram, bytes, id);
            bytes = second.open(datagram, 0, bytes, world.nowNs);
            world.source.doWork(world.nowNs);
            first.doWork(world.nowNs);
            if (bytes != 80) {
                throw new AssertionError(bytes);
            }
        }
    }
}
