package io.framecast.engine.session;

import io.framecast.api.SecurityOptions;
import io.framecast.reliability.wire.StreamInfo.Seal;

/// The part of a stream that is protected, as a channel asks for it.
public enum ProtectionLevel {
    /// Nothing: everybody may take part.
    NONE(Seal.NONE),
    /// Headers and control datagrams are sealed; payloads are as the user wrote them.
    HEADERS(Seal.HEADER),
    /// Payloads are encrypted as well.
    PAYLOADS(Seal.HEADER);

    private final Seal headerSeal;

    ProtectionLevel(final Seal headerSeal) {
        this.headerSeal = headerSeal;
    }

    public static ProtectionLevel of(final SecurityOptions security) {
        if (!security.isAuthenticated()) {
            return NONE;
        }
        return security.isEncrypted() ? PAYLOADS : HEADERS;
    }

    /// The seal of datagrams whose payloads are not encrypted.
    public Seal headerSeal() {
        return headerSeal;
    }

    /// Length of a header on the data and repair lanes.
    public int headerBytes() {
        return headerSeal.headerBytes();
    }
}
