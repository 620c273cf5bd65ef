package io.framecast.reliability.secure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.ConfigException;
import io.framecast.engine.auth.AuthKeys;
import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.secure.AuthWorld.Receiver;
import io.framecast.reliability.wire.ControlLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The keys that `auth=` names, from files.
final class AuthKeysTest {
    private static final String KEY = "ab".repeat(32);
    private static final String OTHER = "cd".repeat(32);

    @TempDir
    private Path directory;

    @BeforeEach
    void close() throws IOException {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
    }

    private Path file(final String name, final String text) throws IOException {
        final Path file = directory.resolve(name);
        Files.writeString(file, text);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        return file;
    }

    private static int length(final AuthKeys keys, final String id) {
        try (SecretBytes found = keys.find(id)) {
            return found == null ? 0 : found.length();
        }
    }

    private static String refusal(final Runnable opened) {
        final String message = assertThrows(ConfigException.class, opened::run).getMessage();
        assertEquals(1, message.lines().count());
        assertFalse(message.contains("abab"), message);
        return message;
    }

    @Test
    void shouldUseTheFirstKeyAndTakeAllOfAFile() throws IOException {
        final Path file = file("psk", "new " + KEY + "\nold " + "cd".repeat(40) + '\n');
        try (AuthKeys source = AuthKeys.ofSource("psk:" + file);
                AuthKeys receiver = AuthKeys.ofReceiver("psk:" + file)) {
            assertEquals("new", receiver.id());
            assertEquals(32, receiver.key().length());
            assertEquals(32, length(source, "new"));
            assertEquals(40, length(source, "old"));
            assertEquals(0, length(source, "none"));
            assertEquals("2 keys", source.toString());
        }
    }

    @Test
    void shouldReadAMembersFileEachTime() throws IOException {
        final Path file = file("member1", "member1 " + KEY);
        try (AuthKeys source = AuthKeys.ofSource("keys:" + directory)) {
            assertEquals(32, length(source, "member1"));
            assertNull(source.problem());
            assertEquals(0, length(source, "member2"));
            file("member1", "member1 " + "ab".repeat(40));
            assertEquals(40, length(source, "member1"));
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
            assertEquals(0, length(source, "member1"), "others may read it");
            assertTrue(assertNotNullText(source.problem()).contains("chmod 600"));
            Files.delete(file);
            assertEquals(0, length(source, "member1"));
            file("member1", "another " + KEY);
            assertEquals(0, length(source, "member1"), "the file's key has another id");
        }
    }

    private static String assertNotNullText(final @Nullable String text) {
        assertNotNull(text);
        return text;
    }

    @Test
    void shouldKeepAMemberOutOnceItsFileIsGone() throws IOException {
        final Path file = file("member1", "member1 " + KEY);
        file("member2", "member2 " + OTHER);
        try (AuthWorld world = new AuthWorld(1, AuthKeys.ofSource("keys:" + directory))) {
            final Receiver first = world.receiver("receiver1", AuthKeys.ofReceiver("keys:" + file));
            world.receiver("receiver2", AuthKeys.ofReceiver("keys:" + directory.resolve("member2")));
            world.run(30 * AuthWorld.STEP_NS);
            assertTrue(first.isReady() && world.receivers.getLast().isReady());
            Files.delete(file);
            world.source.evict((int) (first.protection.receiverId(AuthWorld.SESSION, world.random) >>> 32), _ -> false);
            first.protection.forget(AuthWorld.SESSION);
            world.run(1_000_000_000);
            assertFalse(first.isReady());
            assertTrue(world.source.counts().get(ProtectionEvent.UNKNOWN_KEY) > 0);
        }
    }

    private static int handshakeId(final AuthWorld world, final Receiver receiver) {
        return (int) (receiver.protection.receiverId(AuthWorld.SESSION, world.random) >>> 32);
    }

    @Test
    void shouldKeepNoOtherHandshakeOfAMemberThatWasEvicted() throws IOException {
        final Path file = file("member1", "member1 " + KEY);
        file("member2", "member2 " + OTHER);
        try (AuthWorld world = new AuthWorld(3, AuthKeys.ofSource("keys:" + directory))) {
            final Receiver first = world.receiver("receiver1", AuthKeys.ofReceiver("keys:" + file));
            final Receiver idle = world.receiver("idle", AuthKeys.ofReceiver("keys:" + file));
            final Receiver twin = world.receiver("twin", AuthKeys.ofReceiver("keys:" + file));
            final Receiver other = world.receiver("other", AuthKeys.ofReceiver("keys:" + directory.resolve("member2")));
            world.run(60 * AuthWorld.STEP_NS);
            assertEquals(4, world.source.handshakes());
            final int member = handshakeId(world, twin);
            world.source.evict(handshakeId(world, first), id -> id == member);
            assertFalse(world.source.hasHandshake(handshakeId(world, idle)));
            assertTrue(world.source.hasHandshake(member), "it is a member still");
            assertTrue(world.source.hasHandshake(handshakeId(world, other)));
        }
    }

    @Test
    void shouldGiveNoNewKeysToOneWhoseFileIsGone() throws IOException {
        final Path file = file("member1", "member1 " + KEY);
        file("member2", "member2 " + OTHER);
        try (AuthWorld world = new AuthWorld(4, AuthKeys.ofSource("keys:" + directory))) {
            final Receiver first = world.receiver("receiver1", AuthKeys.ofReceiver("keys:" + file));
            final Receiver other = world.receiver("other", AuthKeys.ofReceiver("keys:" + directory.resolve("member2")));
            world.run(60 * AuthWorld.STEP_NS);
            Files.delete(file);
            world.source.rekey(world.nowNs, 1_000_000_000, _ -> true);
            assertEquals(1, world.source.handshakes());
            world.run(100 * AuthWorld.STEP_NS);
            assertFalse(world.source.isRekeying());
            final byte[] sealed = world.sealedToGroup(world.plain(ControlLayout.TYPE_FRAME, 0, 100));
            assertEquals(0, world.openAt(first, sealed).length);
            assertEquals(100, world.openAt(other, sealed).length);
        }
    }

    @Test
    void shouldTakeNoMembersKeyForAnothers() throws IOException {
        file("member1", "member1 " + KEY);
        file("member2", "member2 " + OTHER);
        final Path wrong = file("wrong", "member2 " + KEY);
        try (AuthWorld world = new AuthWorld(2, AuthKeys.ofSource("keys:" + directory))) {
            final Receiver receiver = world.receiver("receiver1", AuthKeys.ofReceiver("keys:" + wrong));
            world.run(1_000_000_000);
            assertFalse(receiver.isReady());
            assertTrue(world.source.counts().get(ProtectionEvent.BAD_PROOF) > 0);
        }
    }

    @Test
    void shouldTakeNoIdThatLeavesTheDirectory() throws IOException {
        for (final String id : new String[] {"..", ".", ".hidden", "a/b", "../member1", "", "a\0b"}) {
            final byte[] hello = new byte[HandshakeLayout.HELLO_BYTES];
            final MemorySegment view = MemorySegment.ofArray(hello);
            ControlLayout.RECEIVER.set(view, 0, 5L << 32);
            HandshakeLayout.ADDRESS.write(view, 0, AuthWorld.SOURCE);
            final byte[] bytes = AuthWorld.address(id);
            hello[HandshakeLayout.KEY_ID] = (byte) bytes.length;
            AuthWorld.put(hello, HandshakeLayout.KEY_ID + 1, bytes);
            assertFalse(HandshakeLayout.isHello(view, 0, hello.length, hello.length), id);
            Arrays.fill(hello, HandshakeLayout.KEY_ID, HandshakeLayout.ADDRESS.at(), (byte) 0);
            hello[HandshakeLayout.KEY_ID] = 1;
            hello[HandshakeLayout.KEY_ID + 1] = 'a';
            assertTrue(HandshakeLayout.isHello(view, 0, hello.length, hello.length));
        }
        final Path file = file("dots", ".. " + KEY);
        assertTrue(refusal(() -> AuthKeys.ofReceiver("psk:" + file)).contains("begins with no dot"));
    }

    @Test
    void shouldExplainInOneLineWhatCannotBeUsed() throws IOException {
        final Path file = file("psk", "a " + KEY);
        assertTrue(refusal(() -> AuthKeys.ofSource("none")).contains("expected psk:FILE or keys:PATH"));
        assertTrue(refusal(() -> AuthKeys.ofSource("psk:")).contains("expected psk:FILE or keys:PATH"));
        assertTrue(refusal(() -> AuthKeys.ofSource("keys:" + file)).contains("is no directory"));
        assertTrue(
                refusal(() -> AuthKeys.ofSource("keys:" + directory + "/none")).contains("cannot look at"));
        assertTrue(refusal(() -> AuthKeys.ofReceiver("keys:" + directory)).contains("is no regular file"));
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwx---"));
        assertTrue(refusal(() -> AuthKeys.ofSource("keys:" + directory)).contains("chmod 700"));
    }
}
