package io.framecast.engine.publish;

import io.framecast.api.Channel;
import io.framecast.api.SecurityOptions;
import io.framecast.engine.crypto.CipherSpeed;
import io.framecast.engine.session.ProtectionLevel;
import io.framecast.reliability.wire.StreamInfo.Seal;
import java.util.function.Consumer;

/// The seal of a source's datagrams.
final class SealChoice {
    private SealChoice() {}

    /// The seal that a channel asks for. `cipher=auto` is measured, and a notice says what it took.
    ///
    /// @param payloadBytes of a datagram
    static Seal of(final Channel channel, final int payloadBytes, final Consumer<String> notices) {
        final SecurityOptions security = channel.link().security();
        return switch (security.payloadCipher()) {
            case NONE -> ProtectionLevel.of(security).headerSeal();
            case AES_GCM -> Seal.AES_GCM;
            case CHACHA20_POLY1305 -> Seal.CHACHA20_POLY1305;
            case AUTO -> fastest(channel.name(), payloadBytes, notices);
        };
    }

    private static Seal fastest(final String channel, final int payloadBytes, final Consumer<String> notices) {
        final CipherSpeed speed = CipherSpeed.measure(payloadBytes);
        notices.accept("publisher of " + channel + ": cipher=" + speed.cipher().word() + ", by " + speed.name() + ": "
                + speed.sealNs() + " ns for " + payloadBytes + " bytes, the other " + speed.otherNs());
        return switch (speed.cipher()) {
            case AES_GCM -> Seal.AES_GCM;
            case CHACHA20_POLY1305 -> Seal.CHACHA20_POLY1305;
        };
    }
}
