package io.framecast.reliability.secure;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.engine.auth.AuthKeys;
import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.secure.AuthWorld.Receiver;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.Verdict;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Handshakes between a source and receivers in memory: they end under loss, and nothing that a stranger sends changes
/// either side.
final class HandshakeTest {
    private static final long SECOND_NS = 1_000_000_000;

    private static long count(final SourceProtection source, final ProtectionEvent event) {
        return source.counts().get(event);
    }

    private static long count(final Receiver receiver, final ProtectionEvent event) {
        return receiver.protection.counts().get(event);
    }

    private static byte[] bytes(final SecretBytes secret) {
        return secret.segment().toArray(ValueLayout.JAVA_BYTE);
    }

    private static void assertSameDataKeys(final AuthWorld world, final Receiver receiver) {
        final DataKeys theirs = Objects.requireNonNull(receiver.protection.dataKeys(AuthWorld.SESSION));
        final int epoch = world.source.dataKeys().epoch();
        final SecretBytes sent = Objects.requireNonNull(world.source.dataKeys().key(epoch));
        assertArrayEquals(bytes(sent), bytes(Objects.requireNonNull(theirs.key(epoch))));
    }

    private static void assertBothDirections(final AuthWorld world, final Receiver receiver) {
        final long id = receiver.protection.receiverId(AuthWorld.SESSION, world.random);
        final byte[] ack = world.plain(ControlLayout.TYPE_ACK, id, 80);
        assertArrayEquals(body(ack), body(world.openAtSource(world.sealedToSource(receiver, ack))));
        final byte[] start = world.plain(ControlLayout.TYPE_START, id, 64);
        assertArrayEquals(body(start), body(world.openAt(receiver, world.sealedToMember(start))));
    }

    static byte[] body(final byte[] datagram) {
        return Arrays.copyOfRange(datagram, Math.min(datagram.length, ControlLayout.LENGTH), datagram.length);
    }

    @Test
    void shouldAgreeOnKeysWithinFourDatagrams() {
        try (AuthWorld world = AuthWorld.ready(1)) {
            final Receiver receiver = world.first();
            assertTrue(receiver.isReady());
            assertEquals(
                    List.of(1, 20, 21, 22, 23),
                    world.sent.stream().map(AuthWorld::type).toList());
            assertEquals(1, world.source.handshakes());
            assertSameDataKeys(world, receiver);
            assertBothDirections(world, receiver);
        }
    }

    @Test
    void shouldHandOutTheHeartbeatThatBeganTheHandshakeOnceItIsVerified() {
        try (AuthWorld world = AuthWorld.ready(2)) {
            assertEquals(1, world.first().heartbeats.size());
            final byte[] heartbeat = world.first().heartbeats.getFirst();
            assertEquals(ControlLayout.TYPE_HEARTBEAT, AuthWorld.type(heartbeat));
            assertEquals(
                    Verdict.GOOD,
                    ControlLayout.check(MemorySegment.ofArray(heartbeat), 0, heartbeat.length, new HeaderChecksum()));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void shouldAgreeWhereDatagramsAreLostRepeatedAndOvertaken(final long seed) {
        try (AuthWorld world = new AuthWorld(seed)) {
            world.loss = 0.4;
            world.repeat = 0.3;
            world.delay = 0.3;
            for (int i = 0; i < 5; i++) {
                world.receiver("receiver" + i);
            }
            world.run(8 * SECOND_NS);
            world.loss = 0;
            for (final Receiver receiver : world.receivers) {
                assertTrue(receiver.isReady());
                assertSameDataKeys(world, receiver);
                assertBothDirections(world, receiver);
            }
        }
    }

    @Test
    void shouldGiveReceiversIdsOfTheirHandshake() {
        try (AuthWorld world = AuthWorld.ready(3)) {
            final long first = world.first().protection.receiverId(AuthWorld.SESSION, world.random);
            final long second = world.first().protection.receiverId(AuthWorld.SESSION, world.random);
            assertTrue(first != second && first >>> 32 == second >>> 32 && (int) first != 0);
            assertTrue(world.source.hasHandshake((int) (first >>> 32)));
            assertEquals(0, world.first().protection.receiverId(99, world.random), "no keys of that session");
        }
    }

    @Test
    void shouldNotAnswerTheWrongKey() {
        try (AuthWorld world = new AuthWorld(4)) {
            final Receiver receiver = world.receiver("receiver1", AuthKeys.of(AuthWorld.key("key1", 2)));
            world.run(SECOND_NS);
            assertFalse(receiver.isReady());
            assertEquals(0, world.source.handshakes());
            assertTrue(count(world.source, ProtectionEvent.BAD_PROOF) > 0);
            assertEquals(0, world.sentOf(ControlLayout.TYPE_ANSWER).size());
        }
    }

    @Test
    void shouldNotAnswerAnUnknownKey() {
        try (AuthWorld world = new AuthWorld(5)) {
            final Receiver receiver = world.receiver("receiver1", AuthKeys.of(AuthWorld.key("other", 1)));
            world.run(SECOND_NS);
            assertFalse(receiver.isReady());
            assertTrue(count(world.source, ProtectionEvent.UNKNOWN_KEY) > 0);
            assertEquals(0, world.source.handshakes());
        }
    }

    @Test
    void shouldTakeAnyKeyOfTheFileById() {
        try (AuthWorld world = new AuthWorld(6, AuthWorld.key("new", 2), AuthWorld.key("key1", 1))) {
            final Receiver receiver = world.receiver("receiver1");
            world.run(20 * AuthWorld.STEP_NS);
            assertTrue(receiver.isReady());
        }
    }

    @Test
    void shouldAbandonASourceThatDoesNotAnswer() {
        try (AuthWorld world = new AuthWorld(7)) {
            final Receiver receiver = world.receiver("receiver1");
            world.tap = (to, bytes) -> Arrays.equals(to, AuthWorld.SOURCE) ? null : bytes;
            world.announce();
            world.step();
            for (int i = 0; i < 8_100; i++) {
                world.step();
            }
            assertEquals(1, count(receiver, ProtectionEvent.ABANDONED));
            assertEquals(Long.MAX_VALUE, receiver.protection.nextDeadlineNs());
            world.tap = (_, bytes) -> bytes;
            world.run(20 * AuthWorld.STEP_NS);
            assertTrue(receiver.isReady(), "and begin again with the next heartbeat");
        }
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                ControlLayout.TYPE_HEARTBEAT,
                ControlLayout.TYPE_HELLO,
                ControlLayout.TYPE_COOKIE,
                ControlLayout.TYPE_PROOF,
                ControlLayout.TYPE_ANSWER
            })
    void shouldTakeNoMessageOfWhichAByteWasAltered(final int type) {
        // Each byte is altered once, and the checksum is right again.
        int fewest = type == ControlLayout.TYPE_HELLO ? HandshakeLayout.CONTENT_END : HandshakeLayout.HELLO_BYTES;
        for (int at = ControlLayout.LENGTH; at < fewest; at++) {
            try (AuthWorld world = new AuthWorld(8)) {
                final Receiver receiver = world.receiver("receiver1");
                final int place = at;
                final int[] length = {0};
                world.tap = (_, bytes) -> {
                    if (AuthWorld.type(bytes) != type) {
                        return bytes;
                    }
                    length[0] = bytes.length;
                    final byte[] altered = bytes.clone();
                    altered[Math.min(place, bytes.length - 1)] ^= 1;
                    return AuthWorld.complete(altered);
                };
                world.run(40 * AuthWorld.STEP_NS);
                assertTrue(length[0] > 0);
                fewest = Math.min(fewest, length[0]);
                // Nothing of a heartbeat is trusted, so keys may come of it, and it is dropped then.
                assertTrue(type == ControlLayout.TYPE_HEARTBEAT || !receiver.isReady(), () -> type + " at " + place);
                assertEquals(0, receiver.heartbeats.size());
                assertTrue(receiver.isReady() || world.source.handshakes() == 0 || type == ControlLayout.TYPE_ANSWER);
            }
        }
        assertTrue(fewest <= HandshakeLayout.ANSWER_BYTES);
    }

    @Test
    void shouldTakeNoProofThatComesFromAnotherAddress() {
        try (AuthWorld world = new AuthWorld(9)) {
            final Receiver receiver = world.receiver("receiver1");
            final Receiver stranger = world.receiver("receiver2");
            stranger.hears = false;
            world.tap = (_, bytes) -> {
                if (AuthWorld.type(bytes) != ControlLayout.TYPE_PROOF) {
                    return bytes;
                }
                final byte[] moved = bytes.clone();
                moved[HandshakeLayout.ADDRESS.at() + stranger.address.length] = '2';
                return AuthWorld.complete(moved);
            };
            world.run(SECOND_NS);
            assertFalse(receiver.isReady());
            assertEquals(0, world.source.handshakes());
            assertTrue(count(world.source, ProtectionEvent.BAD_COOKIE) > 0);
            assertEquals(0, world.sentOf(ControlLayout.TYPE_ANSWER).size());
        }
    }

    @Test
    void shouldAnswerTheSameProofWithTheSameHandshake() {
        try (AuthWorld world = AuthWorld.ready(10)) {
            final byte[] proof = world.sentOf(ControlLayout.TYPE_PROOF).getFirst();
            assertEquals(0, world.openAtSource(proof).length);
            assertEquals(1, world.source.handshakes());
            final List<byte[]> answers = world.sentOf(ControlLayout.TYPE_ANSWER);
            assertEquals(2, answers.size());
            final int end = HandshakeLayout.ANSWER_SEALED;
            assertArrayEquals(
                    Arrays.copyOfRange(answers.getFirst(), ControlLayout.LENGTH, end),
                    Arrays.copyOfRange(answers.getLast(), ControlLayout.LENGTH, end));
            assertFalse(
                    Arrays.equals(
                            Arrays.copyOfRange(answers.getFirst(), end, HandshakeLayout.ANSWER_BYTES),
                            Arrays.copyOfRange(answers.getLast(), end, HandshakeLayout.ANSWER_BYTES)),
                    "no nonce is used twice");
            assertBothDirections(world, world.first());
        }
    }

    @Test
    void shouldTakeNoAnswerTwiceNorOfAnotherHandshake() {
        try (AuthWorld world = AuthWorld.ready(11)) {
            final Receiver receiver = world.first();
            final byte[] answer = world.sentOf(ControlLayout.TYPE_ANSWER).getFirst();
            assertEquals(0, world.openAt(receiver, answer).length);
            assertEquals(1, count(receiver, ProtectionEvent.REPLAYED));
            assertBothDirections(world, receiver);
            receiver.protection.forget(AuthWorld.SESSION);
            world.tap = (_, bytes) -> AuthWorld.type(bytes) == ControlLayout.TYPE_ANSWER ? null : bytes;
            world.run(20 * AuthWorld.STEP_NS);
            world.openAt(receiver, answer);
            assertFalse(receiver.isReady());
            // With the number of the new handshake.
            final byte[] renamed = answer.clone();
            final byte[] hello = world.sentOf(ControlLayout.TYPE_HELLO).getLast();
            System.arraycopy(hello, 16, renamed, 16, 8);
            world.openAt(receiver, AuthWorld.complete(renamed));
            assertFalse(receiver.isReady());
            assertEquals(1, count(receiver, ProtectionEvent.BAD_PROOF));
        }
    }

    @Test
    void shouldTakeNoOldCookie() {
        try (AuthWorld world = AuthWorld.ready(12)) {
            final byte[] proof = world.sentOf(ControlLayout.TYPE_PROOF).getFirst();
            world.nowNs += Cookies.SECRET_NS;
            world.openAtSource(proof);
            assertEquals(0, count(world.source, ProtectionEvent.BAD_COOKIE), "the previous secret's");
            assertEquals(2, world.sentOf(ControlLayout.TYPE_ANSWER).size());
            world.nowNs += Cookies.SECRET_NS;
            world.openAtSource(proof);
            assertEquals(1, count(world.source, ProtectionEvent.BAD_COOKIE));
            world.nowNs += 10 * Cookies.SECRET_NS;
            world.openAtSource(proof);
            assertEquals(2, count(world.source, ProtectionEvent.BAD_COOKIE));
            assertEquals(2, world.sentOf(ControlLayout.TYPE_ANSWER).size());
        }
    }

    @Test
    void shouldTakeNoPublicKeyOfSmallOrder() {
        try (AuthWorld world = AuthWorld.ready(13);
                SecretBytes shared = AuthWorld.key("key1", 1).key()) {
            // A process that has the key, and none of its own.
            final byte[] hello =
                    world.sentOf(ControlLayout.TYPE_HELLO).getFirst().clone();
            hello[20] ^= 1;
            Arrays.fill(hello, HandshakeLayout.PUBLIC_KEY, HandshakeLayout.KEY_ID, (byte) 0);
            world.openAtSource(AuthWorld.complete(hello));
            final byte[] cookie =
                    HandshakeTest.body(world.sentOf(ControlLayout.TYPE_COOKIE).getLast());
            final byte[] proof = Arrays.copyOf(hello, HandshakeLayout.PROOF_BYTES);
            proof[1] = ControlLayout.TYPE_PROOF;
            AuthWorld.put(proof, HandshakeLayout.PROOF_COOKIE, cookie);
            final byte[] content = HandshakeLayout.content(MemorySegment.ofArray(proof), 0);
            AuthWorld.put(proof, HandshakeLayout.PROOF_TAG, KeySchedule.proofTag(shared, content, cookie));
            world.openAtSource(AuthWorld.complete(proof));
            assertEquals(1, count(world.source, ProtectionEvent.WEAK_KEY));
            assertEquals(1, world.source.handshakes());
        }
    }

    @Test
    void shouldDisplaceTheHandshakeThatWasSilentForLongest() {
        try (AuthWorld world = new AuthWorld(14)) {
            for (int i = 0; i < AuthWorld.HANDSHAKES_MAX; i++) {
                world.receiver("receiver" + i);
            }
            world.run(SECOND_NS);
            final Receiver first = world.first();
            assertBothDirections(world, first);
            world.receivers.forEach(receiver -> receiver.hears = false);
            final Receiver newcomer = world.receiver("newcomer");
            world.run(SECOND_NS);
            assertTrue(newcomer.isReady());
            assertEquals(AuthWorld.HANDSHAKES_MAX, world.source.handshakes());
            assertEquals(1, count(world.source, ProtectionEvent.DISPLACED));
            assertBothDirections(world, first);
            assertBothDirections(world, newcomer);
        }
    }

    @Test
    void shouldLimitAnswers() {
        try (AuthWorld world = AuthWorld.ready(15)) {
            final byte[] hello = world.sentOf(ControlLayout.TYPE_HELLO).getFirst();
            world.sent.clear();
            for (int i = 0; i < 1000; i++) {
                world.openAtSource(hello);
            }
            assertEquals(SourceProtection.BURST_MAX, world.sent.size());
            assertEquals(1000 - SourceProtection.BURST_MAX, count(world.source, ProtectionEvent.LIMITED));
            world.nowNs += 10 * AuthWorld.STEP_NS;
            for (int i = 0; i < 1000; i++) {
                world.openAtSource(hello);
            }
            assertEquals(SourceProtection.BURST_MAX + 40, world.sent.size());
        }
    }

    @Test
    void shouldKeepNothingOfStrangers() {
        try (AuthWorld world = new AuthWorld(16)) {
            final Receiver receiver = world.receiver("receiver1");
            world.tap = (_, bytes) -> AuthWorld.type(bytes) == ControlLayout.TYPE_PROOF ? null : bytes;
            world.run(SECOND_NS);
            final List<byte[]> heard = List.copyOf(world.sent);
            world.sent.clear();
            final SplittableRandom random = new SplittableRandom(17);
            for (int i = 0; i < 100_000; i++) {
                final byte[] forged = forged(heard, random);
                world.nowNs += 10_000;
                assertEquals(0, world.openAtSource(forged).length);
                assertEquals(0, world.openAt(receiver, forged).length);
            }
            assertEquals(0, world.source.handshakes());
            assertFalse(receiver.isReady());
            assertEquals(0, receiver.heartbeats.size());
            assertEquals(0, world.sentOf(ControlLayout.TYPE_ANSWER).size());
            world.tap = (_, bytes) -> bytes;
            world.run(SECOND_NS);
            assertTrue(receiver.isReady(), "and goes on");
            assertBothDirections(world, receiver);
        }
    }

    // Random bytes, or a datagram that was heard, with other bytes or another length.
    private static byte[] forged(final List<byte[]> heard, final SplittableRandom random) {
        if (random.nextInt(10) == 0) {
            final byte[] noise = new byte[random.nextInt(1216)];
            random.nextBytes(noise);
            return noise;
        }
        final byte[] base = heard.get(random.nextInt(heard.size()));
        final byte[] forged = random.nextInt(4) == 0
                ? Arrays.copyOf(base, ControlLayout.LENGTH + 1 + random.nextInt(1160))
                : base.clone();
        for (int i = random.nextInt(4); i > 0; i--) {
            forged[random.nextInt(forged.length)] = (byte) random.nextInt(256);
        }
        // In a PROOF that was held back each byte of the body counts.
        final int at = ControlLayout.LENGTH + random.nextInt(forged.length - ControlLayout.LENGTH);
        forged[at] = at < base.length && forged[at] == base[at] ? (byte) ~base[at] : forged[at];
        if (random.nextInt(4) == 0) {
            forged[29] = (byte) (random.nextBoolean() ? 16 : 24);
        }
        return random.nextInt(10) == 0 ? forged : AuthWorld.complete(forged);
    }

    @Test
    void shouldBoundHandshakesUnderWay() {
        try (AuthWorld world = AuthWorld.ready(18)) {
            final Receiver receiver = world.first();
            final byte[] heartbeat = world.sentOf(ControlLayout.TYPE_HEARTBEAT).getFirst();
            world.sent.clear();
            for (int i = 0; i < 1000; i++) {
                final byte[] other = heartbeat.clone();
                other[8] = (byte) i;
                other[9] = (byte) (i >> 8);
                world.openAt(receiver, AuthWorld.complete(other));
            }
            receiver.protection.doWork(world.nowNs);
            assertEquals(
                    ReceiverProtection.PENDING_MAX,
                    world.sentOf(ControlLayout.TYPE_HELLO).size());
            assertTrue(count(receiver, ProtectionEvent.LIMITED) > 900);
            assertTrue(receiver.isReady());
        }
    }

    @Test
    void shouldAskFewWhereAllHeartbeatsAreForged() {
        try (AuthWorld world = AuthWorld.ready(23)) {
            final Receiver receiver = world.first();
            final byte[] heartbeat = world.sentOf(ControlLayout.TYPE_HEARTBEAT).getFirst();
            world.sent.clear();
            for (int i = 0; i < 5_000; i++) {
                final byte[] other = heartbeat.clone();
                other[8] = (byte) i;
                other[9] = (byte) (i >> 8);
                world.openAt(receiver, AuthWorld.complete(other));
                world.step();
            }
            final int hellos = world.sentOf(ControlLayout.TYPE_HELLO).size();
            assertTrue(hellos > 8 && hellos < 300, hellos + " HELLOs in five seconds");
        }
    }

    @Test
    void shouldShakeHandsBesideStrangersThatAnswerWithCookies() {
        try (AuthWorld world = AuthWorld.ready(24)) {
            final Receiver late = world.receiver("receiver2");
            late.hears = false;
            final byte[] heartbeat = world.sentOf(ControlLayout.TYPE_HEARTBEAT).getFirst();
            for (int i = 1; i <= ReceiverProtection.PENDING_MAX; i++) {
                final byte[] other = heartbeat.clone();
                other[8] = (byte) i;
                world.openAt(late, AuthWorld.complete(other));
            }
            world.sent.clear();
            late.protection.doWork(world.nowNs);
            for (final byte[] hello : world.sentOf(ControlLayout.TYPE_HELLO)) {
                final byte[] cookie = world.plain(ControlLayout.TYPE_COOKIE, 0, HandshakeLayout.COOKIE_BYTES);
                System.arraycopy(hello, 8, cookie, 8, 16);
                world.openAt(late, AuthWorld.complete(cookie));
            }
            late.hears = true;
            world.run(2_000_000_000);
            assertTrue(late.isReady());
        }
    }

    @Test
    void shouldBeginAgainAfterItMissedKeys() {
        try (AuthWorld world = AuthWorld.ready(19)) {
            final Receiver receiver = world.first();
            world.source.evict(
                    (int) (receiver.protection.receiverId(AuthWorld.SESSION, world.random) >>> 32), _ -> false);
            world.source.rekey(world.nowNs, 0, _ -> false);
            world.run(4 * SECOND_NS);
            assertTrue(receiver.isReady());
            assertNotNull(receiver.protection.dataKeys(AuthWorld.SESSION));
            assertSameDataKeys(world, receiver);
            assertBothDirections(world, receiver);
        }
    }

    @Test
    void shouldKeepTheKeysOfAMembershipThatMissedKeysUntilItIsOver() {
        try (AuthWorld world = AuthWorld.ready(19)) {
            final Receiver receiver = world.first();
            final boolean[] isJoined = {true};
            receiver.protection.keepWhere(session -> isJoined[0] && session == AuthWorld.SESSION);
            final long id = receiver.protection.receiverId(AuthWorld.SESSION, world.random);
            world.source.evict((int) (id >>> 32), _ -> false);
            world.source.rekey(world.nowNs, 0, _ -> false);
            final DataKeys keys = receiver.protection.dataKeys(AuthWorld.SESSION);
            world.run(4 * SECOND_NS);
            assertSame(keys, receiver.protection.dataKeys(AuthWorld.SESSION));
            isJoined[0] = false;
            receiver.protection.forget(AuthWorld.SESSION);
            world.run(SECOND_NS);
            assertBothDirections(world, receiver);
        }
    }

    @Test
    void shouldShakeHandsWithASourceWhoseAddressIsKnown() {
        try (AuthWorld world = new AuthWorld(21)) {
            final Receiver receiver = world.receiver("receiver1");
            // Heartbeats are lost: only the address says where the source is.
            world.tap = (_, bytes) -> AuthWorld.type(bytes) == ControlLayout.TYPE_HEARTBEAT ? null : bytes;
            int steps = 0;
            while (!receiver.protection.agree(AuthWorld.SESSION, AuthWorld.SOURCE, world.nowNs)) {
                assertTrue(steps++ < 100, "no keys");
                world.step();
            }
            assertTrue(receiver.isReady());
            assertEquals(0, receiver.heartbeats.size());
        }
    }

    @Test
    void shouldOpenNothingOfASessionThatGoesOnWithoutKeys() {
        try (AuthWorld world = new AuthWorld(22)) {
            final Receiver receiver = world.receiver("receiver1");
            receiver.protection.refuse(AuthWorld.SESSION);
            world.run(100 * AuthWorld.STEP_NS);
            assertFalse(receiver.isReady());
            assertEquals(0, world.source.handshakes());
            receiver.protection.forget(AuthWorld.SESSION);
            world.run(100 * AuthWorld.STEP_NS);
            assertTrue(receiver.isReady());
        }
    }
}
