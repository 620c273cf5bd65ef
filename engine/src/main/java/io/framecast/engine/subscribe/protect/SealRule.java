package io.framecast.engine.subscribe.protect;

import io.framecast.api.SecurityOptions;
import io.framecast.reliability.wire.StreamInfo.Seal;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/// The seals of the sources that a subscriber listens to, by its own `auth=`, `cipher=` and `payloads=`.
///
/// @param possible at a source that has a key, or has none, as this subscriber
/// @param wanted of these
/// @param cipher as the subscriber names it
public record SealRule(Set<Seal> possible, Set<Seal> wanted, SecurityOptions.Cipher cipher) {
    private static final Set<Seal> ENCRYPTING = EnumSet.of(Seal.AES_GCM, Seal.CHACHA20_POLY1305);

    /// Of streams that everybody may join.
    static final SealRule PLAIN =
            new SealRule(EnumSet.of(Seal.NONE), EnumSet.of(Seal.NONE), SecurityOptions.Cipher.NONE);

    /// Of streams with `auth=`.
    static SealRule keyed(final SecurityOptions security) {
        final Set<Seal> wanted = switch (security.payloadCipher()) {
            case NONE -> EnumSet.of(Seal.HEADER);
            case AUTO -> ENCRYPTING;
            case AES_GCM -> EnumSet.of(Seal.AES_GCM);
            case CHACHA20_POLY1305 -> EnumSet.of(Seal.CHACHA20_POLY1305);
        };
        return new SealRule(EnumSet.complementOf(EnumSet.of(Seal.NONE)), wanted, security.cipher());
    }

    /// The reason why the subscriber does not listen to a source.
    ///
    /// @param seal as the source's heartbeat announces it
    /// @return empty where the source seals its datagrams as the subscriber wants it
    public Optional<String> refusal(final Seal seal) {
        if (!possible.contains(seal)) {
            return Optional.of("auth: a source of this stream contradicts itself; listening for another");
        }
        return wanted.contains(seal) ? Optional.empty() : Optional.of(contradiction(ENCRYPTING.contains(seal)));
    }

    private String contradiction(final boolean encrypting) {
        if (encrypting && ENCRYPTING.containsAll(wanted)) {
            return "cipher: expected a source with cipher=" + cipher.word()
                    + ", got one with another cipher; give both the same cipher=";
        }
        return "payloads: "
                + (encrypting
                        ? "this subscriber says unprotected, and the source encrypts them"
                        : "the source says unprotected, and this subscriber does not")
                + "; write payloads=unprotected at both ends, or at neither";
    }
}
