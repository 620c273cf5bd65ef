package io.framecast.api;

import java.nio.file.Path;

/// The members of a stream, and the secrecy of its payloads.
///
/// @param auth `psk:FILE`: all who hold a key of that file; `keys:PATH`: at a publisher a directory with a key file for
///     each member, at a subscriber its own key file; empty: everybody. Without a cipher payloads are not
/// authenticated.
///     Both ends have it, or neither. See SECURITY.md
/// @param cipher encrypts and authenticates payloads, at a publisher; a subscriber that names one listens to no source
///     without it, and one that names none takes what the source has
/// @param rekeyMs time after which a publisher changes the keys, in milliseconds; 0: only after an eviction and where a
///     key was used long enough
public record SecurityOptions(String auth, Cipher cipher, int rekeyMs) {
    public static final int REKEY_MIN_MS = 1_000;
    public static final int REKEY_MAX_MS = 86_400_000;
    public static final SecurityOptions DEFAULT = new SecurityOptions("", Cipher.NONE, 0);

    private static final String SHARED = "psk:";
    private static final String BY_MEMBER = "keys:";

    /// The cipher of payloads, by its word in a URI.
    public enum Cipher {
        /// Payloads are neither encrypted nor authenticated.
        NONE("none"),
        /// The one that is faster here, by measurement.
        AUTO("auto"),
        /// AES-256 in Galois/counter mode.
        AES_GCM("aes-gcm"),
        CHACHA20_POLY1305("chacha20-poly1305");

        private final String word;

        Cipher(final String word) {
            this.word = word;
        }

        /// As `cipher=` says it.
        public String word() {
            return word;
        }
    }

    public SecurityOptions {
        if (!auth.isEmpty() && Path.of(path(auth)).toString().isEmpty()) {
            throw new IllegalArgumentException("auth: expected psk:FILE or keys:PATH, got " + auth);
        }
        if (auth.isEmpty() && cipher != Cipher.NONE) {
            throw new IllegalArgumentException("cipher: expected auth= beside it, got " + cipher.word() + " alone");
        }
        if (auth.isEmpty() && rekeyMs != 0) {
            throw new IllegalArgumentException("rekey: expected auth= beside it, got " + rekeyMs + " ms alone");
        }
        if (rekeyMs != 0 && (rekeyMs < REKEY_MIN_MS || rekeyMs > REKEY_MAX_MS)) {
            throw new IllegalArgumentException("rekey: expected a time such as 10m or 1h, " + REKEY_MIN_MS / 1000
                    + "s … " + REKEY_MAX_MS / 1000 + "s or 0s, got " + rekeyMs + " ms");
        }
    }

    // Of the key file, or of the directory of key files.
    private static String path(final String auth) {
        return auth.startsWith(SHARED)
                ? auth.substring(SHARED.length())
                : auth.startsWith(BY_MEMBER) ? auth.substring(BY_MEMBER.length()) : "";
    }

    /// Reads a time as it is written in a channel's `rekey=`.
    ///
    /// @return milliseconds
    /// @throws IllegalArgumentException naming expectation and value
    public static int rekeyMs(final String text) {
        final long ms = SourceOptions.ms(text);
        if (ms < 0 || ms > REKEY_MAX_MS) {
            throw new IllegalArgumentException(
                    "rekey: expected a time such as 10m or 1h, 0s … " + REKEY_MAX_MS / 1000 + "s, got " + text);
        }
        return (int) ms;
    }

    /// Whether datagrams are authenticated.
    public boolean isAuthenticated() {
        return !auth.isEmpty();
    }

    /// Whether payloads are encrypted and authenticated.
    public boolean isEncrypted() {
        return cipher != Cipher.NONE;
    }
}
