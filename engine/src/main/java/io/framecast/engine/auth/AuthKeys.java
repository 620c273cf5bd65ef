package io.framecast.engine.auth;

import io.framecast.api.SecurityOptions;
import io.framecast.api.error.ConfigException;
import io.framecast.engine.crypto.KeyFile;
import io.framecast.engine.crypto.KeyFile.NamedKey;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.PrivateDirectory;
import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.secure.KeySchedule;
import io.framecast.reliability.secure.SharedKeys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The shared keys that `auth=` names: of `psk:FILE` one for all members, of `keys:PATH` one for each. At a
/// receiver both name a key file, whose first key it uses. At a source `psk:` names a key file, all of whose keys
/// it takes; `keys:` names a directory with a key file for each member, named by the id of its key. A member's
/// file is read each time that the member proves its key, so the source keeps a member out once its file is gone.
///
/// One thread. It owns the keys of its file.
public final class AuthKeys implements SharedKeys, AutoCloseable {
    private static final String PSK = "psk:";
    private static final String KEYS = "keys:";
    private static final int HOST_TAG_BYTES = 8;
    private static final Set<PosixFilePermission> WRITERS =
            EnumSet.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);

    // Null where the keys are of a file.
    private final @Nullable Path directory;
    private final List<NamedKey> keys;
    private @Nullable String problem;

    private AuthKeys(final @Nullable Path directory, final List<NamedKey> keys) {
        this.directory = directory;
        this.keys = keys;
    }

    /// The keys of a source.
    ///
    /// @param setting the value of `auth=`
    /// @throws ConfigException with one line, and no byte of a key, where they cannot be used
    public static AuthKeys ofSource(final String setting) {
        if (setting.startsWith(KEYS)) {
            final Path directory = Path.of(setting.substring(KEYS.length()));
            requireOwn(directory);
            return new AuthKeys(directory, List.of());
        }
        return ofFile(setting, PSK);
    }

    /// The keys of a receiver.
    ///
    /// @param setting the value of `auth=`
    /// @throws ConfigException with one line, and no byte of a key, where they cannot be used
    public static AuthKeys ofReceiver(final String setting) {
        final AuthKeys keys = ofFile(setting, setting.startsWith(KEYS) ? KEYS : PSK);
        if (keys.id().startsWith(".")) {
            keys.close();
            throw new ConfigException("auth: " + setting + ": the id of a key that is used begins with no dot");
        }
        return keys;
    }

    /// As [#ofReceiver(String)].
    ///
    /// @param security of a subscriber's channel
    /// @return empty without `auth=`
    public static Optional<AuthKeys> ofReceiver(final SecurityOptions security) {
        return security.isAuthenticated() ? Optional.of(ofReceiver(security.auth())) : Optional.empty();
    }

    /// Keys that are in no file; it takes them over.
    public static AuthKeys of(final NamedKey... keys) {
        return new AuthKeys(null, List.of(keys));
    }

    private static AuthKeys ofFile(final String setting, final String scheme) {
        if (!setting.startsWith(scheme) || setting.length() == scheme.length()) {
            throw new ConfigException("auth: expected psk:FILE or keys:PATH, got " + setting);
        }
        return new AuthKeys(null, KeyFile.read(Path.of(setting.substring(scheme.length()))));
    }

    private static void requireOwn(final Path directory) {
        final PosixFileAttributes found;
        try {
            found = Files.readAttributes(directory, PosixFileAttributes.class);
        } catch (final IOException | UnsupportedOperationException e) {
            throw new ConfigException("auth: cannot look at " + directory + ": " + e.getMessage());
        }
        if (!found.isDirectory()) {
            throw new ConfigException("auth: " + directory + " is no directory; a source takes keys:DIRECTORY");
        }
        if (found.permissions().stream().anyMatch(WRITERS::contains)) {
            throw new ConfigException(
                    "auth: users other than its owner may add keys to " + directory + "; chmod 700 " + directory);
        }
        if (PrivateDirectory.owner(directory) != Libc.getuid()) {
            final String user = System.getProperty("user.name");
            throw new ConfigException(
                    "auth: " + directory + " is of " + found.owner().getName() + ", not of " + user + "; chown it");
        }
    }

    /// A tag by which processes of one user and host know that they have the same key.
    ///
    /// @param security of a subscriber's channel
    /// @return empty without `auth=`; else 16 hexadecimal digits, which say nothing about the key
    /// @throws ConfigException as [#ofReceiver]
    public static String hostTagOfReceiver(final SecurityOptions security) {
        if (!security.isAuthenticated()) {
            return "";
        }
        try (AuthKeys keys = ofReceiver(security.auth())) {
            return keys.hostTag();
        }
    }

    /// As [#hostTagOfReceiver]. Only a process with the first of several keys gets the same tag.
    ///
    /// @param security of a publisher's channel
    /// @return empty without `auth=`, and with `keys:`
    /// @throws ConfigException as [#ofSource]
    public static String hostTagOfSource(final SecurityOptions security) {
        if (!security.isAuthenticated()) {
            return "";
        }
        try (AuthKeys keys = ofSource(security.auth())) {
            return keys.hostTag();
        }
    }

    /// As [#hostTagOfReceiver]; empty where the keys are of a directory.
    public String hostTag() {
        return directory != null ? "" : HexFormat.of().formatHex(KeySchedule.hostTag(key()), 0, HOST_TAG_BYTES);
    }

    @Override
    public String id() {
        return keys.getFirst().id();
    }

    @Override
    public SecretBytes key() {
        return keys.getFirst().key();
    }

    @Override
    public @Nullable SecretBytes find(final String id) {
        if (directory == null) {
            return find(keys, id);
        }
        final List<NamedKey> read;
        try {
            requireOwn(directory);
            read = KeyFile.read(directory.resolve(id));
        } catch (final ConfigException e) {
            problem = e.getMessage();
            return null;
        }
        try {
            return find(read, id);
        } finally {
            read.forEach(key -> key.key().close());
        }
    }

    private static @Nullable SecretBytes find(final List<NamedKey> keys, final String id) {
        for (final NamedKey key : keys) {
            if (key.id().equals(id)) {
                return key.key().duplicate();
            }
        }
        return null;
    }

    @Override
    public boolean isOfEach() {
        return directory != null;
    }

    @Override
    public boolean isGone(final String id) {
        return directory != null && Files.notExists(directory.resolve(id));
    }

    /// One line that says why a member's key file could not be used the last time, for a log; null where all
    /// could.
    public @Nullable String problem() {
        return problem;
    }

    @Override
    public String toString() {
        return directory == null ? keys.size() + " keys" : "keys of " + directory;
    }

    @Override
    public void close() {
        keys.forEach(key -> key.key().close());
    }
}
