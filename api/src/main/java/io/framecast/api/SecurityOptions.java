package io.framecast.api;

import java.nio.file.Path;

/// The keys of those who may take part in a stream. Both ends have it, or neither.
///
/// @param auth `psk:FILE`: all who hold a key of that file; `keys:PATH`: at a publisher a directory with a key file for
///     each member, at a subscriber its own key file; empty: everybody. Payloads are not authenticated. See SECURITY.md
public record SecurityOptions(String auth) {
    public static final SecurityOptions DEFAULT = new SecurityOptions("");

    private static final String SHARED = "psk:";
    private static final String BY_MEMBER = "keys:";

    public SecurityOptions {
        if (!auth.isEmpty() && Path.of(path(auth)).toString().isEmpty()) {
            throw new IllegalArgumentException("auth: expected psk:FILE or keys:PATH, got " + auth);
        }
    }

    // Of the key file, or of the directory of key files.
    private static String path(final String auth) {
        return auth.startsWith(SHARED)
                ? auth.substring(SHARED.length())
                : auth.startsWith(BY_MEMBER) ? auth.substring(BY_MEMBER.length()) : "";
    }

    /// Whether datagrams are authenticated.
    public boolean isAuthenticated() {
        return !auth.isEmpty();
    }
}
