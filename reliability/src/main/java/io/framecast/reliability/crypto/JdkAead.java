package io.framecast.reliability.crypto;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.spec.AlgorithmParameterSpec;
import java.util.Arrays;
import javax.crypto.AEADBadTagException;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/// The JDK's ciphers, where libcrypto is missing: they allocate, and keep the key in the heap.
final class JdkAead implements Aead {
    private static final int TAG_BITS = 8 * TAG_BYTES;

    private final Cipher kind;
    // Two, since ChaCha20's does not encrypt under the nonce that it decrypted last.
    private final javax.crypto.Cipher sealing;
    private final javax.crypto.Cipher opening;
    private final SecretKeySpec key;
    private final ByteBuffer nonce = ByteBuffer.allocate(NONCE_BYTES);

    JdkAead(final Cipher kind, final SecretBytes secret) {
        this.kind = kind;
        final byte[] copy = secret.copy();
        try {
            final boolean gcm = kind == Cipher.AES_GCM;
            final String name = gcm ? "AES/GCM/NoPadding" : "ChaCha20-Poly1305";
            sealing = javax.crypto.Cipher.getInstance(name);
            opening = javax.crypto.Cipher.getInstance(name);
            key = new SecretKeySpec(copy, gcm ? "AES" : "ChaCha20");
        } catch (final GeneralSecurityException e) {
            throw new IllegalStateException("the JDK has no " + kind.word(), e);
        } finally {
            Arrays.fill(copy, (byte) 0);
        }
    }

    @Override
    public String name() {
        return kind.word() + " by the JDK";
    }

    private void begin(
            final javax.crypto.Cipher cipher,
            final int mode,
            final int lane,
            final long number,
            final MemorySegment header)
            throws GeneralSecurityException {
        nonce.putInt(0, lane).putLong(Integer.BYTES, number);
        final AlgorithmParameterSpec parameters = kind == Cipher.AES_GCM
                ? new GCMParameterSpec(TAG_BITS, nonce.array())
                : new IvParameterSpec(nonce.array());
        cipher.init(mode, key, parameters);
        // A buffer of a part of an array is read, and then given a position of the whole (JDK 25).
        cipher.updateAAD(header.toArray(ValueLayout.JAVA_BYTE));
    }

    @Override
    public void seal(
            final int lane,
            final long number,
            final MemorySegment headers,
            final long header,
            final int headerBytes,
            final long tagAt,
            final MemorySegment payloads,
            final long at,
            final int payloadBytes) {
        try {
            begin(sealing, javax.crypto.Cipher.ENCRYPT_MODE, lane, number, headers.asSlice(header, headerBytes));
            final ByteBuffer sealed = ByteBuffer.allocate(payloadBytes + TAG_BYTES);
            sealing.doFinal(payloads.asSlice(at, payloadBytes).asByteBuffer(), sealed);
            final MemorySegment made = MemorySegment.ofArray(sealed.array());
            MemorySegment.copy(made, 0, payloads, at, payloadBytes);
            MemorySegment.copy(made, payloadBytes, headers, tagAt, TAG_BYTES);
        } catch (final GeneralSecurityException e) {
            throw new IllegalStateException(name() + ": cannot seal", e);
        }
    }

    @Override
    public boolean open(
            final int lane,
            final long number,
            final MemorySegment headers,
            final long header,
            final int headerBytes,
            final long tagAt,
            final MemorySegment payloads,
            final long at,
            final int payloadBytes) {
        try {
            begin(opening, javax.crypto.Cipher.DECRYPT_MODE, lane, number, headers.asSlice(header, headerBytes));
            final byte[] sealed = new byte[payloadBytes + TAG_BYTES];
            final MemorySegment given = MemorySegment.ofArray(sealed);
            MemorySegment.copy(payloads, at, given, 0, payloadBytes);
            MemorySegment.copy(headers, tagAt, given, payloadBytes, TAG_BYTES);
            final byte[] opened = opening.doFinal(sealed);
            MemorySegment.copy(MemorySegment.ofArray(opened), 0, payloads, at, opened.length);
            return true;
        } catch (final AEADBadTagException e) {
            return false;
        } catch (final GeneralSecurityException e) {
            throw new IllegalStateException(name() + ": cannot open", e);
        }
    }

    @Override
    public void close() {
        // The JDK wipes no key.
    }
}
