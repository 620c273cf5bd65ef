package io.framecast.reliability.crypto;

import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/// HKDF with SHA-256 (Krawczyk and Eronen 2010, RFC 5869). Arrays that held secrets are wiped; the JDK keeps copies for
/// as long as a call lasts.
public final class Hkdf {
    public static final int HASH_BYTES = 32;
    private static final String HMAC = "HmacSHA256";

    private Hkdf() {}

    /// HKDF-Extract (§2.2).
    ///
    /// @param salt of any length
    public static SecretBytes extract(final byte[] salt, final SecretBytes input) {
        final byte[] copy = input.copy();
        try {
            // HMAC pads its key with zeros: so the RFC's default, HashLen zeros, is the empty one.
            return SecretBytes.take(
                    mac(salt.length == 0 ? new byte[HASH_BYTES] : salt).doFinal(copy));
        } finally {
            Arrays.fill(copy, (byte) 0);
        }
    }

    /// HKDF-Extract with a secret salt.
    public static SecretBytes extract(final SecretBytes salt, final SecretBytes input) {
        final byte[] copy = salt.copy();
        try {
            return extract(copy, input);
        } finally {
            Arrays.fill(copy, (byte) 0);
        }
    }

    /// HMAC-SHA-256 (RFC 2104) of some bytes, one part behind the other.
    public static byte[] mac(final SecretBytes key, final byte[]... parts) {
        final byte[] copy = key.copy();
        try {
            return mac(copy, parts);
        } finally {
            Arrays.fill(copy, (byte) 0);
        }
    }

    /// As [#mac(SecretBytes, byte[]...)], under a key of 32 bytes that HKDF-Expand derives. No [SecretBytes] holds it:
    /// closing one stops other threads for a moment, and strangers cause tags to be checked.
    ///
    /// @param info label of the derived key
    public static byte[] macDerived(final SecretBytes key, final byte[] info, final byte[]... parts) {
        final byte[] copy = key.copy();
        final byte[] derived = expand(copy, info, HASH_BYTES);
        try {
            return mac(derived, parts);
        } finally {
            Arrays.fill(copy, (byte) 0);
            Arrays.fill(derived, (byte) 0);
        }
    }

    private static byte[] mac(final byte[] key, final byte[]... parts) {
        final Mac mac = mac(key);
        for (final byte[] part : parts) {
            mac.update(part);
        }
        return mac.doFinal();
    }

    /// HKDF-Expand (§2.3).
    ///
    /// @param bytes 1 … 255 × 32
    public static SecretBytes expand(final SecretBytes key, final byte[] info, final int bytes) {
        if (bytes < 1 || bytes > 255 * HASH_BYTES) {
            throw new IllegalArgumentException("expected 1 … " + 255 * HASH_BYTES + " bytes, got " + bytes);
        }
        final byte[] copy = key.copy();
        try {
            return SecretBytes.take(expand(copy, info, bytes));
        } finally {
            Arrays.fill(copy, (byte) 0);
        }
    }

    private static byte[] expand(final byte[] key, final byte[] info, final int bytes) {
        final byte[] output = new byte[bytes];
        byte[] block = {};
        final Mac mac = mac(key);
        for (int at = 0, i = 1; at < bytes; at += HASH_BYTES, i++) {
            mac.update(block);
            mac.update(info);
            mac.update((byte) i);
            Arrays.fill(block, (byte) 0);
            block = mac.doFinal();
            System.arraycopy(block, 0, output, at, Math.min(HASH_BYTES, bytes - at));
        }
        Arrays.fill(block, (byte) 0);
        return output;
    }

    private static Mac mac(final byte[] key) {
        try {
            final Mac mac = Mac.getInstance(HMAC);
            mac.init(new SecretKeySpec(key, HMAC));
            return mac;
        } catch (final GeneralSecurityException e) {
            throw new IllegalStateException("the JDK has no " + HMAC, e);
        }
    }
}
