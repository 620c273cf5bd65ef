package io.framecast.reliability.crypto;

/// The ciphers that seal datagrams.
public enum Cipher {
    /// AES-256 in Galois/counter mode (NIST SP 800-38D).
    AES_GCM("aes-gcm", "AES-256-GCM"),
    /// ChaCha20 and Poly1305 (RFC 8439).
    CHACHA20_POLY1305("chacha20-poly1305", "ChaCha20-Poly1305");

    /// Length of their keys.
    public static final int KEY_BYTES = 32;

    private final String word;
    private final String library;

    Cipher(final String word, final String library) {
        this.word = word;
        this.library = library;
    }

    /// As `cipher=` says it.
    public String word() {
        return word;
    }

    /// Its name in libraries (OpenSSL's `EVP_CIPHER_fetch`).
    public String library() {
        return library;
    }
}
