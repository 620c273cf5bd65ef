package io.framecast.reliability.crypto;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.spec.NamedParameterSpec;
import java.security.spec.XECPrivateKeySpec;
import java.security.spec.XECPublicKeySpec;
import java.util.Arrays;
import javax.crypto.KeyAgreement;
import org.jspecify.annotations.Nullable;

/// The JDK's X25519, where libcrypto is missing: it keeps the private key in the heap.
final class JdkX25519 implements X25519 {
    private static final String NAME = "X25519";
    // RFC 7748 §4.1.
    private static final byte[] BASE = new byte[KEY_BYTES];

    static {
        BASE[0] = 9;
    }

    @Override
    public byte[] publicKey(final SecretBytes privateKey) {
        final byte[] found = multiply(privateKey, BASE);
        if (found == null) {
            throw new IllegalStateException("the JDK gives no public key");
        }
        return found;
    }

    @Override
    public @Nullable SecretBytes agree(final SecretBytes privateKey, final byte[] publicKey) {
        final byte[] found = publicKey.length == KEY_BYTES ? multiply(privateKey, publicKey) : null;
        if (found == null) {
            return null;
        }
        final SecretBytes secret = SecretBytes.take(found);
        if (secret.isZero()) {
            secret.close();
            return null;
        }
        return secret;
    }

    // Null where the result would be all zeros.
    private static byte @Nullable [] multiply(final SecretBytes privateKey, final byte[] publicKey) {
        final byte[] copy = privateKey.copy();
        try {
            final KeyFactory keys = KeyFactory.getInstance(NAME);
            final PrivateKey own = keys.generatePrivate(new XECPrivateKeySpec(NamedParameterSpec.X25519, copy));
            final PublicKey peer =
                    keys.generatePublic(new XECPublicKeySpec(NamedParameterSpec.X25519, coordinate(publicKey)));
            final KeyAgreement agreement = KeyAgreement.getInstance(NAME);
            agreement.init(own);
            try {
                agreement.doPhase(peer, true);
            } catch (final InvalidKeyException e) {
                // A point of small order.
                return null;
            }
            return agreement.generateSecret();
        } catch (final GeneralSecurityException e) {
            throw new IllegalStateException("the JDK has no " + NAME, e);
        } finally {
            Arrays.fill(copy, (byte) 0);
        }
    }

    // RFC 7748 §5: little-endian, without the highest bit.
    private static BigInteger coordinate(final byte[] publicKey) {
        final byte[] bytes = new byte[KEY_BYTES];
        for (int i = 0; i < KEY_BYTES; i++) {
            bytes[i] = publicKey[KEY_BYTES - 1 - i];
        }
        bytes[0] &= 0x7f;
        return new BigInteger(1, bytes);
    }
}
