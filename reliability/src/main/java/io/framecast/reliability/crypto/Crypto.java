package io.framecast.reliability.crypto;

/// The port to implementations of ciphers and of the curve. [#JDK] is everywhere; the engine has faster ones.
///
/// Stateless: any thread.
public interface Crypto {
    /// The JDK's, which take memory of the heap for keys too.
    Crypto JDK = new Crypto() {
        @Override
        public Aead aead(final Cipher cipher, final SecretBytes key) {
            return new JdkAead(cipher, key);
        }

        @Override
        public X25519 curve() {
            return new JdkX25519();
        }
    };

    /// Opens a cipher under a key of [Cipher#KEY_BYTES], which stays the caller's.
    Aead aead(Cipher cipher, SecretBytes key);

    /// The curve of handshakes.
    X25519 curve();
}
