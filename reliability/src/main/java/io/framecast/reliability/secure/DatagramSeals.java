package io.framecast.reliability.secure;

import io.framecast.reliability.crypto.Cipher;
import io.framecast.reliability.crypto.Crypto;
import io.framecast.reliability.lane.DataOpener;
import io.framecast.reliability.lane.DataSealer;
import io.framecast.reliability.wire.StreamInfo.Seal;

/// Seals and opens the datagrams of the data and repair lanes of one session.
///
/// Threading: the thread of the lane and of the protection. Owns the keys that it derives.
public sealed interface DatagramSeals extends DataSealer, DataOpener, AutoCloseable permits HeaderTags, PayloadSeals {
    /// @param seal of the stream, not [Seal#NONE]
    static DatagramSeals of(final Seal seal, final DataKeys keys, final Crypto crypto) {
        return switch (seal) {
            case NONE -> throw new IllegalArgumentException("a stream without seals");
            case HEADER -> new HeaderTags(keys);
            case AES_GCM -> new PayloadSeals(keys, Cipher.AES_GCM, crypto);
            case CHACHA20_POLY1305 -> new PayloadSeals(keys, Cipher.CHACHA20_POLY1305, crypto);
        };
    }

    /// Wipes the keys that it derived.
    @Override
    void close();
}
