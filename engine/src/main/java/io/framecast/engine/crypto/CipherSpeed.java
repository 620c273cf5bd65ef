package io.framecast.engine.crypto;

import io.framecast.reliability.crypto.Aead;
import io.framecast.reliability.crypto.Cipher;
import io.framecast.reliability.crypto.SecretBytes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.Arrays;

/// How long the ciphers of this host take to seal a payload.
///
/// @param cipher the fastest
/// @param name of its implementation
/// @param sealNs median time of one payload
/// @param otherNs that of the other cipher
public record CipherSpeed(Cipher cipher, String name, long sealNs, long otherNs) {
    private static final int HEADER_BYTES = 64;
    // Enough for code to be compiled, where libcrypto does the work.
    private static final int WARMUP = 2_000;
    private static final int ROUNDS = 9;
    private static final int ROUND_DATAGRAMS = 50;

    /// Measures for some ten milliseconds.
    ///
    /// @param payloadBytes of a datagram
    public static CipherSpeed measure(final int payloadBytes) {
        final long[] gcm = new long[ROUNDS];
        final long[] chacha = new long[ROUNDS];
        try (Arena arena = Arena.ofConfined();
                SecretBytes key = SecretBytes.random(new SecureRandom(), Cipher.KEY_BYTES);
                Aead first = SystemCrypto.get().aead(Cipher.AES_GCM, key);
                Aead second = SystemCrypto.get().aead(Cipher.CHACHA20_POLY1305, key)) {
            final MemorySegment memory = arena.allocate(HEADER_BYTES + (long) payloadBytes, HEADER_BYTES);
            sealNs(first, memory, payloadBytes, WARMUP);
            sealNs(second, memory, payloadBytes, WARMUP);
            for (int i = 0; i < ROUNDS; i++) {
                gcm[i] = sealNs(first, memory, payloadBytes, ROUND_DATAGRAMS);
                chacha[i] = sealNs(second, memory, payloadBytes, ROUND_DATAGRAMS);
            }
            final long gcmNs = median(gcm);
            final long chachaNs = median(chacha);
            return gcmNs <= chachaNs
                    ? new CipherSpeed(Cipher.AES_GCM, first.name(), gcmNs, chachaNs)
                    : new CipherSpeed(Cipher.CHACHA20_POLY1305, second.name(), chachaNs, gcmNs);
        }
    }

    private static long sealNs(final Aead aead, final MemorySegment memory, final int payloadBytes, final int count) {
        final long begunNs = System.nanoTime();
        for (int i = 0; i < count; i++) {
            aead.seal(
                    0,
                    i,
                    memory,
                    0,
                    HEADER_BYTES - Aead.TAG_BYTES,
                    HEADER_BYTES - Aead.TAG_BYTES,
                    memory,
                    HEADER_BYTES,
                    payloadBytes);
        }
        return (System.nanoTime() - begunNs) / count;
    }

    private static long median(final long[] times) {
        Arrays.sort(times);
        return times[times.length / 2];
    }
}
