package io.framecast.engine.crypto;

import io.framecast.engine.libc.Libcrypto;
import io.framecast.reliability.crypto.Aead;
import io.framecast.reliability.crypto.Cipher;
import io.framecast.reliability.crypto.Crypto;
import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.crypto.X25519;

/// Ciphers and curve of this system: libcrypto's, which keep keys outside the heap; where it is missing the
/// JDK's, which
/// are slower.
public final class SystemCrypto implements Crypto {
    private static final Crypto FOUND = Libcrypto.isPresent() ? new SystemCrypto() : Crypto.JDK;

    private SystemCrypto() {}

    /// The best that this system has.
    public static Crypto get() {
        return FOUND;
    }

    @Override
    public Aead aead(final Cipher cipher, final SecretBytes key) {
        return new LibcryptoAead(cipher.word(), cipher.library(), key);
    }

    @Override
    public X25519 curve() {
        return new LibcryptoX25519();
    }
}
