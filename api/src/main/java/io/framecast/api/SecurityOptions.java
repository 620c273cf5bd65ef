package io.framecast.api;

import java.nio.file.Path;

/// The members of a stream, and the secrecy of its payloads.
///
/// @param auth `psk:FILE`: all who hold a key of that file; `keys:PATH`: at a publisher a directory with a key file for
///     each member, at a subscriber its own key file; empty: everybody. Both ends have it, or neither. See SECURITY.md
/// @param cipher as `cipher=` names it; NONE where it does not: then [#payloadCipher] follows from the others
/// @param payloads whether hosts without a key may read and alter payloads, which both ends say alike
/// @param rekeyMs time after which a publisher changes the keys, in milliseconds; 0: only after an eviction and where a
///     key was used long enough
public record SecurityOptions(String auth, Cipher cipher, Payloads payloads, int rekeyMs) {
    public static final int REKEY_MIN_MS = 1_000;
    public static final int REKEY_MAX_MS = 86_400_000;
    public static final SecurityOptions DEFAULT = of(ChannelKey::defaultValue);

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

    /// The treatment of payloads where there are keys, by its word in a URI.
    public enum Payloads {
        /// They are encrypted and authenticated.
        PROTECTED("protected"),
        /// Headers and control datagrams are protected alone.
        UNPROTECTED("unprotected");

        private final String word;

        Payloads(final String word) {
            this.word = word;
        }

        /// As `payloads=` says it.
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
        if (auth.isEmpty() && payloads != Payloads.PROTECTED) {
            throw new IllegalArgumentException("payloads: expected auth= beside it, got " + payloads.word() + " alone");
        }
        if (payloads == Payloads.UNPROTECTED && cipher != Cipher.NONE) {
            throw new IllegalArgumentException(
                    "payloads: expected no cipher= beside unprotected, got cipher=" + cipher.word());
        }
        if (auth.isEmpty() && rekeyMs != 0) {
            throw new IllegalArgumentException("rekey: expected auth= beside it, got " + rekeyMs + " ms alone");
        }
        if (rekeyMs != 0 && (rekeyMs < REKEY_MIN_MS || rekeyMs > REKEY_MAX_MS)) {
            throw new IllegalArgumentException("rekey: expected a time such as 10m or 1h, " + REKEY_MIN_MS / 1000
                    + "s … " + REKEY_MAX_MS / 1000 + "s or 0s, got " + rekeyMs + " ms");
        }
    }

    static SecurityOptions of(final KeyValues values) {
        return new SecurityOptions(
                values.get(ChannelKey.AUTH),
                values.get(ChannelKey.CIPHER),
                values.get(ChannelKey.PAYLOADS),
                values.get(ChannelKey.REKEY));
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
        return (int) ChannelKey.REKEY.read(text);
    }

    /// Whether datagrams are authenticated.
    public boolean isAuthenticated() {
        return !auth.isEmpty();
    }

    /// The cipher of a publisher's payloads. A subscriber whose own is AUTO takes any, and listens to no source
    /// without one; a subscriber whose own is NONE listens to no source with one.
    public Cipher payloadCipher() {
        return isByDefault() ? Cipher.AUTO : cipher;
    }

    /// Whether payloads are encrypted because `auth=` stands alone.
    public boolean isByDefault() {
        return isAuthenticated() && payloads == Payloads.PROTECTED && cipher == Cipher.NONE;
    }

    /// Whether payloads are encrypted and authenticated.
    public boolean isEncrypted() {
        return payloadCipher() != Cipher.NONE;
    }
}
