package io.framecast.reliability.secure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.engine.auth.AuthKeys;
import io.framecast.engine.crypto.SystemCrypto;
import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.crypto.X25519;
import io.framecast.reliability.secure.AuthWorld.Receiver;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.StreamInfo.Seal;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A handshake and sealed datagrams, byte by byte against an independent computation from the page of the protocol.
final class AuthVectorsTest {
    private static final HexFormat HEX = HexFormat.of();
    private static final long RECEIVER = 0x0a0b_0c0d_0102_0304L;

    // Every call for bytes gives the next number, repeated.
    private static final class Scripted implements RandomGenerator {
        private int next;

        Scripted(final int first) {
            next = first;
        }

        @Override
        public long nextLong() {
            return 0x0a0b_0c0dL << 32;
        }

        @Override
        public void nextBytes(final byte[] bytes) {
            Arrays.fill(bytes, (byte) next++);
        }
    }

    private static Map<String, String> computed() throws IOException, InterruptedException {
        final Path script = Path.of("src/test/resources/io/framecast/engine/auth/vectors.py");
        final Process python;
        try {
            python = new ProcessBuilder("/usr/bin/python3", script.toString())
                    .redirectErrorStream(true)
                    .start();
        } catch (final IOException e) {
            assumeTrue(false, "no python3: " + e.getMessage());
            return Map.of();
        }
        final List<String> lines;
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(python.getInputStream(), StandardCharsets.UTF_8))) {
            lines = output.lines().toList();
        }
        assumeTrue(python.waitFor() == 0, () -> "no python3-cryptography: " + lines);
        final Map<String, String> values = new HashMap<>();
        for (final String line : lines) {
            final String[] words = line.split(" ", -1);
            values.put(words[0], words[1]);
        }
        return values;
    }

    private static String hex(final SecretBytes secret) {
        return HEX.formatHex(secret.segment().toArray(ValueLayout.JAVA_BYTE));
    }

    // A plain datagram with the body of the script.
    private static byte[] plain(final int type, final long receiver, final int bodyBytes, final int bytes) {
        final byte[] made = new byte[bytes];
        for (int i = 0; i < bodyBytes; i++) {
            made[ControlLayout.LENGTH + i] = (byte) (i * 7);
        }
        final MemorySegment view = MemorySegment.ofArray(made);
        ControlLayout.begin(view, type);
        ControlLayout.SESSION.set(view, 0, AuthWorld.SESSION);
        ControlLayout.RECEIVER.set(view, 0, receiver);
        return AuthWorld.complete(made);
    }

    private static byte[] plain(final int type, final long receiver, final int bodyBytes) {
        return plain(type, receiver, bodyBytes, ControlLayout.LENGTH + bodyBytes);
    }

    @Test
    void shouldBeTheBytesThatThePageSays() throws IOException, InterruptedException {
        final Map<String, String> expected = computed();
        try (AuthWorld world = new AuthWorld(1, AuthKeys.of(AuthWorld.key("key1", 1)), new Scripted(1))) {
            final Receiver receiver =
                    world.new Receiver("receiver1", AuthKeys.of(AuthWorld.key("key1", 1)), new Scripted(0x11));
            world.receivers.add(receiver);
            world.run(20 * AuthWorld.STEP_NS);
            assertTrue(receiver.isReady());
            final Map<String, byte[]> found = new HashMap<>();
            found.put("HELLO", world.sentOf(ControlLayout.TYPE_HELLO).getFirst());
            found.put("COOKIE", world.sentOf(ControlLayout.TYPE_COOKIE).getFirst());
            found.put("PROOF", world.sentOf(ControlLayout.TYPE_PROOF).getFirst());
            found.put("ANSWER", world.sentOf(ControlLayout.TYPE_ANSWER).getFirst());
            found.put("FRAME", world.sealedToGroup(plain(ControlLayout.TYPE_FRAME, 0, 100)));
            found.put("HEARTBEAT", world.sealedToGroup(plain(ControlLayout.TYPE_HEARTBEAT, 0, 200)));
            found.put("START", world.sealedToMember(plain(ControlLayout.TYPE_START, RECEIVER, 24)));
            found.put("ACK", world.sealedToSource(receiver, plain(ControlLayout.TYPE_ACK, RECEIVER, 40)));
            found.put("SOLICIT", world.sealedToSource(receiver, plain(ControlLayout.TYPE_SOLICIT, RECEIVER, 8, 1200)));
            found.put("NACK", world.sealedToPeer(receiver, plain(ControlLayout.TYPE_NACK, RECEIVER, 60), RECEIVER));
            world.source.rekey(world.nowNs, 1, _ -> true);
            world.step();
            world.step();
            world.step();
            found.put("KEYS", world.sentOf(ControlLayout.TYPE_KEYS).getFirst());
            found.put("KEYS_ACK", world.sentOf(ControlLayout.TYPE_KEYS_ACK).getFirst());
            found.forEach((name, bytes) -> assertEquals(expected.get(name), HEX.formatHex(bytes), name));
            assertEquals(12, found.size());
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Seal.class,
            names = {"HEADER", "AES_GCM", "CHACHA20_POLY1305"})
    void shouldSealDataAsThePageSays(final Seal seal) throws IOException, InterruptedException {
        final byte[] plain = new byte[DataLayout.SEALED_LENGTH + 100];
        for (int i = 0; i < 100; i++) {
            plain[i % DataLayout.TAG] = (byte) (i % DataLayout.TAG * 7);
            plain[DataLayout.SEALED_LENGTH + i] = (byte) (i * 7);
        }
        plain[0] = 0x21;
        try (Arena arena = Arena.ofConfined();
                AuthWorld world = new AuthWorld(1, AuthKeys.of(AuthWorld.key("key1", 1)), new Scripted(1));
                DatagramSeals seals = DatagramSeals.of(seal, world.source.dataKeys(), SystemCrypto.get())) {
            final MemorySegment memory = arena.allocate(plain.length, Long.BYTES);
            MemorySegment.copy(plain, 0, memory, ValueLayout.JAVA_BYTE, 0, plain.length);
            seals.seal(memory, 0, memory, DataLayout.SEALED_LENGTH, 100);
            assertEquals(computed().get(seal.name()), HEX.formatHex(memory.toArray(ValueLayout.JAVA_BYTE)));
        }
    }

    @Test
    void shouldDeriveTheKeysThatThePageSays() throws IOException, InterruptedException {
        final Map<String, String> expected = computed();
        final X25519 curve = SystemCrypto.get().curve();
        try (SecretBytes shared = filled(1);
                SecretBytes source = filled(5);
                SecretBytes member = filled(0x12);
                SecretBytes groupKey = filled(2);
                SecretBytes atSource = Objects.requireNonNull(curve.agree(source, curve.publicKey(member)));
                SecretBytes atMember = Objects.requireNonNull(curve.agree(member, curve.publicKey(source)))) {
            assertTrue(atSource.matches(atMember));
            final byte[] proof = HEX.parseHex(Objects.requireNonNull(expected.get("PROOF")));
            final byte[] challenge = new byte[32];
            Arrays.fill(challenge, (byte) 4);
            final byte[] content = HandshakeLayout.content(MemorySegment.ofArray(proof), 0);
            final byte[] transcript = KeySchedule.transcript(content, challenge, curve.publicKey(source));
            final KeySchedule.PairKeys pair = KeySchedule.pair(shared, atSource, transcript);
            try (SecretBytes toSource = pair.toSource();
                    SecretBytes toMember = pair.toMember();
                    SecretBytes group = KeySchedule.group(groupKey);
                    SecretBytes sender = KeySchedule.member(groupKey, RECEIVER)) {
                assertEquals(expected.get("toSource"), hex(toSource));
                assertEquals(expected.get("toMember"), hex(toMember));
                assertEquals(expected.get("group"), hex(group));
                assertEquals(expected.get("member"), hex(sender));
            }
        }
    }

    private static SecretBytes filled(final int value) {
        final byte[] bytes = new byte[32];
        Arrays.fill(bytes, (byte) value);
        return SecretBytes.take(bytes);
    }
}
