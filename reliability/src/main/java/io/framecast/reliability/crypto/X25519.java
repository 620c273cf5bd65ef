package io.framecast.reliability.crypto;

import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// Diffie-Hellman on Curve25519 (Langley, Hamburg and Turner 2016, RFC 7748 §5 and §6.1). Keys and secrets have 32
/// bytes. Public keys are no secret.
///
/// Any thread. It allocates: a handshake calls it, a datagram never.
public interface X25519 {
    int KEY_BYTES = 32;

    /// A new private key, which its owner closes.
    static SecretBytes newPrivateKey(final RandomGenerator random) {
        return SecretBytes.random(random, KEY_BYTES);
    }

    byte[] publicKey(SecretBytes privateKey);

    /// The secret that the owner of this private key shares with the owner of that public key.
    ///
    /// @param publicKey from the wire
    /// @return null where it is all zeros: then the public key is a point of small order, and no secret
    @Nullable
    SecretBytes agree(SecretBytes privateKey, byte[] publicKey);
}
