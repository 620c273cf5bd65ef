package io.framecast.engine.crypto;

import io.framecast.engine.libc.Libcrypto;
import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.crypto.X25519;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/// libcrypto's X25519.
final class LibcryptoX25519 implements X25519 {
    private static long load(final SecretBytes privateKey) {
        if (privateKey.length() != KEY_BYTES) {
            throw new IllegalArgumentException("expected a key of " + KEY_BYTES + " bytes, got " + privateKey.length());
        }
        final long key = Libcrypto.newPrivateKey(privateKey.segment().address());
        if (key == 0) {
            throw new IllegalStateException("libcrypto has no X25519");
        }
        return key;
    }

    @Override
    public byte[] publicKey(final SecretBytes privateKey) {
        final long key = load(privateKey);
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_LONG, KEY_BYTES);
            final MemorySegment found = arena.allocate(KEY_BYTES);
            if (!Libcrypto.readPublicKey(key, found.address(), length.address())) {
                throw new IllegalStateException("libcrypto gives no public key");
            }
            return found.toArray(ValueLayout.JAVA_BYTE);
        } finally {
            Libcrypto.freeKey(key);
        }
    }

    @Override
    public @Nullable SecretBytes agree(final SecretBytes privateKey, final byte[] publicKey) {
        if (publicKey.length != KEY_BYTES) {
            return null;
        }
        final long key = load(privateKey);
        long peer = 0;
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_LONG, KEY_BYTES);
            final MemorySegment given = arena.allocateFrom(ValueLayout.JAVA_BYTE, publicKey);
            final MemorySegment found = arena.allocate(KEY_BYTES);
            peer = Libcrypto.newPublicKey(given.address());
            if (peer == 0 || !Libcrypto.derive(key, peer, found.address(), length.address())) {
                return null;
            }
            final SecretBytes secret = SecretBytes.take(found, 0, KEY_BYTES);
            if (secret.isZero()) {
                secret.close();
                return null;
            }
            return secret;
        } finally {
            Libcrypto.freeKey(key);
            if (peer != 0) {
                Libcrypto.freeKey(peer);
            }
        }
    }
}
