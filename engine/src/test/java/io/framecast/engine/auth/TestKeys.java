package io.framecast.engine.auth;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/// A key file for tests that run a stream as it is, with a key, or encrypted.
public final class TestKeys {
    private TestKeys() {}

    /// A channel's keys of its security.
    ///
    /// @param seal `plain`, `auth`, `unprotected` or `cipher`
    public static String options(final String seal) {
        return switch (seal) {
            case "plain" -> "";
            case "auth" -> "|auth=psk:" + file();
            case "unprotected" -> "|payloads=unprotected|auth=psk:" + file();
            case "cipher" -> "|cipher=aes-gcm|rekey=1s|auth=psk:" + file();
            default -> throw new IllegalArgumentException(seal);
        };
    }

    private static Path file() {
        try {
            final Path made = Files.createTempFile(
                    "framecast-test",
                    ".key",
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            made.toFile().deleteOnExit();
            return Files.writeString(made, "key1 " + "0a".repeat(32) + '\n');
        } catch (final IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
