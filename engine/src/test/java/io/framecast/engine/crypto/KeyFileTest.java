package io.framecast.engine.crypto;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.ConfigException;
import io.framecast.reliability.crypto.SecretBytes;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Key files, and what is said where one cannot be used.
final class KeyFileTest {
    private static final String KEY = "ab".repeat(32);

    @TempDir
    private Path directory;

    private Path file(final String text, final String permissions) throws IOException {
        final Path file = directory.resolve("keys");
        Files.deleteIfExists(file);
        Files.writeString(file, text);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
        return file;
    }

    private void refuses(final String text, final String expected) throws IOException {
        final Path file = file(text, "rw-------");
        final String message = assertThrows(ConfigException.class, () -> KeyFile.read(file))
                .getMessage()
                .replace(file.toString(), "FILE");
        assertTrue(message.contains(expected), message);
        assertFalse(message.contains("abab"), "no byte of a key: " + message);
        assertEquals(1, message.lines().count());
    }

    @Test
    void shouldReadKeysByIdInOrder() throws IOException {
        final Path file = file("# keys\nnew " + KEY + "\n\nold-1 " + "CD".repeat(40) + '\n', "rw-------");
        final List<KeyFile.NamedKey> keys = KeyFile.read(file);
        assertEquals(
                List.of("new", "old-1"), keys.stream().map(KeyFile.NamedKey::id).toList());
        assertEquals(40, keys.get(1).key().length());
        assertEquals((byte) 0xcd, keys.get(1).key().segment().toArray(ValueLayout.JAVA_BYTE)[39]);
        assertEquals("NamedKey[id=new, key=key of 32 bytes]", keys.getFirst().toString());
        keys.forEach(key -> key.key().close());
    }

    @Test
    void shouldRefuseWhatOthersMayRead() throws IOException {
        for (final String permissions : List.of("rw-r--r--", "rw----r--", "rw-rw----", "rw--w----")) {
            final Path file = file("a " + KEY, permissions);
            assertEquals(
                    "auth: users other than its owner may read or write " + file + "; chmod 600 " + file,
                    assertThrows(ConfigException.class, () -> KeyFile.read(file))
                            .getMessage());
        }
    }

    @Test
    void shouldSayWhatIsWrong() throws IOException {
        refuses("", "auth: FILE holds 0 keys; expected 1 … 64");
        refuses("# none\n", "holds 0 keys");
        refuses(
                "a " + KEY.substring(2),
                "auth: FILE, line 1: expected 32 … 256 bytes of key in hexadecimal, got 62 digits");
        refuses("a " + KEY + 'f', "got 65 digits");
        refuses("a", "is there no id in front of the key?");
        refuses(KEY, "is there no id in front of the key?");
        refuses("a ", "got 0 digits");
        refuses("a " + KEY.substring(1) + 'x', "line 1: the key is not in hexadecimal");
        refuses("a " + KEY + "\r\n", "got 65 digits");
        refuses("\n" + KEY + "x " + KEY, "line 2: expected an id of 1 … 64 letters");
        refuses("a/b " + KEY, "expected an id");
        refuses("a " + KEY + "\na " + KEY, "auth: FILE holds two keys of one id");
        refuses(("k" + " " + KEY + '\n').repeat(65), "holds 65 keys");
        refuses("#".repeat(70_000), "has 70000 bytes; expected at most 65536");
        assertTrue(assertThrows(ConfigException.class, () -> KeyFile.read(directory))
                .getMessage()
                .contains(" is no regular file"));
        assertTrue(assertThrows(ConfigException.class, () -> KeyFile.read(directory.resolve("absent")))
                .getMessage()
                .contains("make it by (umask 077; printf"));
    }

    @Test
    void shouldCompareAndWipe() {
        final byte[] array = {1, 2, 3};
        try (SecretBytes one = SecretBytes.take(array);
                SecretBytes same = SecretBytes.take(new byte[] {1, 2, 3});
                SecretBytes other = SecretBytes.take(new byte[] {1, 2, 4});
                SecretBytes longer = SecretBytes.take(new byte[] {1, 2, 3, 0})) {
            assertEquals(0, array[0] | array[1] | array[2], "wiped where it came from");
            assertTrue(one.matches(same));
            assertFalse(one.matches(other));
            assertFalse(one.matches(longer));
        }
    }
}
