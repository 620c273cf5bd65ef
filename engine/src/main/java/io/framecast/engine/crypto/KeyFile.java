package io.framecast.engine.crypto;

import io.framecast.api.error.ConfigException;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.PrivateDirectory;
import io.framecast.reliability.crypto.SecretBytes;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/// Keys by id, in a file that its owner alone may read. A line for each: the id, a space, and at least 32 bytes in
/// hexadecimal; lines that are empty or begin with `#` are left out. A process uses the first key. It accepts
/// the other keys from peers too, so that keys change without a gap.
public final class KeyFile {
    /// The shortest key, bytes.
    public static final int KEY_BYTES_MIN = 32;
    /// The longest.
    public static final int KEY_BYTES_MAX = 256;
    /// Keys of a file at most.
    public static final int KEYS_MAX = 64;

    private static final int ID_MAX = 64;
    private static final int FILE_BYTES_MAX = 64 << 10;
    private static final Set<PosixFilePermission> OWNERS = EnumSet.of(
            PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);

    /// A key and its id, which is no secret.
    public record NamedKey(String id, SecretBytes key) {}

    private KeyFile() {}

    /// Reads a file.
    ///
    /// @return at least one key; their user closes them
    /// @throws ConfigException with one line that names the file, and no byte of a key, where it cannot be used
    public static List<NamedKey> read(final Path file) {
        final int descriptor = open(file);
        byte[] text = {};
        final List<NamedKey> keys = new ArrayList<>();
        try {
            // The file that was opened: another one may have its name by now.
            final Path opened = Path.of("/proc/self/fd/" + descriptor);
            requireOwn(file, opened);
            text = Files.readAllBytes(opened);
            parse(file, text, keys);
            return keys;
        } catch (final IOException e) {
            throw new ConfigException("auth: cannot read " + file + ": " + e.getMessage());
        } catch (final ConfigException e) {
            keys.forEach(key -> key.key().close());
            throw e;
        } finally {
            Arrays.fill(text, (byte) 0);
            Libc.close(descriptor);
        }
    }

    private static int open(final Path file) {
        try (Arena scratch = Arena.ofConfined()) {
            // A pipe without a writer would block.
            final int flags = Linux.O_RDONLY | Linux.O_CLOEXEC | Linux.O_NONBLOCK;
            final int descriptor = Libc.open(scratch.allocateFrom(file.toString()), flags);
            if (descriptor < 0) {
                requireOwn(file, file);
                throw new ConfigException("auth: cannot read " + file + "; is it this user's?");
            }
            return descriptor;
        }
    }

    private static void requireOwn(final Path file, final Path opened) {
        final PosixFileAttributes found;
        try {
            found = Files.readAttributes(opened, PosixFileAttributes.class);
        } catch (final NoSuchFileException e) {
            throw new ConfigException("auth: there is no " + file + "; make it by (umask 077; printf 'key1 %s\\n'"
                    + " \"$(openssl rand -hex 32)\" >" + file + ')');
        } catch (final IOException | UnsupportedOperationException e) {
            throw new ConfigException("auth: cannot look at " + file + ": " + e.getMessage());
        }
        if (!found.isRegularFile()) {
            throw new ConfigException("auth: " + file + " is no regular file; give the path of a key file");
        }
        if (!OWNERS.containsAll(found.permissions())) {
            throw new ConfigException(
                    "auth: users other than its owner may read or write " + file + "; chmod 600 " + file);
        }
        if (PrivateDirectory.owner(opened) != Libc.getuid()) {
            final String user = System.getProperty("user.name");
            throw new ConfigException(
                    "auth: " + file + " is of " + found.owner().getName() + ", not of " + user + "; chown it");
        }
        if (found.size() > FILE_BYTES_MAX) {
            throw new ConfigException(
                    "auth: " + file + " has " + found.size() + " bytes; expected at most " + FILE_BYTES_MAX);
        }
    }

    private static void parse(final Path file, final byte[] text, final List<NamedKey> keys) {
        int line = 0;
        for (int begin = 0; begin < text.length; ) {
            int end = begin;
            while (end < text.length && text[end] != '\n') {
                end++;
            }
            line++;
            if (end > begin && text[begin] != '#') {
                keys.add(key(file + ", line " + line, text, begin, end));
            }
            begin = end + 1;
        }
        if (keys.isEmpty() || keys.size() > KEYS_MAX) {
            throw new ConfigException("auth: " + file + " holds " + keys.size() + " keys; expected 1 … " + KEYS_MAX
                    + " lines of an id and a key in hexadecimal");
        }
        if (keys.stream().map(NamedKey::id).distinct().count() < keys.size()) {
            throw new ConfigException("auth: " + file + " holds two keys of one id");
        }
    }

    private static NamedKey key(final String place, final byte[] text, final int begin, final int end) {
        int space = begin;
        while (space < end && text[space] != ' ') {
            space++;
        }
        if (space == end) {
            // Perhaps a key.
            throw new ConfigException("auth: " + place
                    + ": expected an id, a space, and a key in hexadecimal; is there no" + " id in front of the key?");
        }
        final String id = new String(text, begin, space - begin, StandardCharsets.US_ASCII);
        if (!id.matches("[A-Za-z0-9._-]{1," + ID_MAX + '}')) {
            throw new ConfigException("auth: " + place + ": expected an id of 1 … " + ID_MAX
                    + " letters, digits, '.', '_' and '-', a space, and a key in hexadecimal");
        }
        final int digits = end - space - 1;
        if (digits < 2 * KEY_BYTES_MIN || digits > 2 * KEY_BYTES_MAX || digits % 2 != 0) {
            throw new ConfigException("auth: " + place + ": expected " + KEY_BYTES_MIN + " … " + KEY_BYTES_MAX
                    + " bytes of key in hexadecimal, got " + Math.max(digits, 0) + " digits");
        }
        final byte[] key = new byte[digits / 2];
        for (int i = 0; i < key.length; i++) {
            final int high = text[space + 1 + 2 * i];
            final int low = text[space + 2 + 2 * i];
            if (!HexFormat.isHexDigit(high) || !HexFormat.isHexDigit(low)) {
                Arrays.fill(key, (byte) 0);
                throw new ConfigException("auth: " + place + ": the key is not in hexadecimal");
            }
            key[i] = (byte) (HexFormat.fromHexDigit(high) << 4 | HexFormat.fromHexDigit(low));
        }
        return new NamedKey(id, SecretBytes.take(key));
    }
}
