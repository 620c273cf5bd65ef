package io.framecast.engine.crypto;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// SipHash-2-4 with 128 bits of output (Aumasson and Bernstein 2012, "SipHash: a fast short-input PRF", §2; 128 bits:
/// the authors' reference code), a keyed function that is fast on a header. Its output authenticates: without the key,
/// the output for one input says nothing of that for another.
///
/// Mutable and reused: [#of] keeps the output. One thread.
public final class SipHash {
    /// Length of its keys.
    public static final int KEY_BYTES = 16;

    private static final ValueLayout.OfLong WORD = JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int WIDE_BEGIN = 0xee;
    private static final int WIDE_END = 0xdd;
    private static final int ROUNDS_LAST = 4;

    private long v0;
    private long v1;
    private long v2;
    private long v3;
    private long first;
    private long second;

    /// Computes the output for `bytes` bytes, a multiple of 8.
    ///
    /// @param key at least [#KEY_BYTES], of which the first count
    public void of(final MemorySegment key, final MemorySegment input, final long offset, final int bytes) {
        final long k0 = key.get(WORD, 0);
        final long k1 = key.get(WORD, Long.BYTES);
        long a = k0 ^ 0x736f6d6570736575L;
        long b = k1 ^ 0x646f72616e646f6dL ^ WIDE_BEGIN;
        long c = k0 ^ 0x6c7967656e657261L;
        long d = k1 ^ 0x7465646279746573L;
        for (int at = 0; at <= bytes; at += Long.BYTES) {
            // The last word has the length alone.
            final long word = at < bytes ? input.get(WORD, offset + at) : (long) bytes << 56;
            d ^= word;
            // Two rounds, with their state in registers.
            for (int round = 0; round < 2; round++) {
                a += b;
                b = Long.rotateLeft(b, 13) ^ a;
                a = Long.rotateLeft(a, 32);
                c += d;
                d = Long.rotateLeft(d, 16) ^ c;
                a += d;
                d = Long.rotateLeft(d, 21) ^ a;
                c += b;
                b = Long.rotateLeft(b, 17) ^ c;
                c = Long.rotateLeft(c, 32);
            }
            a ^= word;
        }
        v0 = a;
        v1 = b;
        v2 = c ^ WIDE_BEGIN;
        v3 = d;
        first = finish();
        v1 ^= WIDE_END;
        second = finish();
    }

    private long finish() {
        long a = v0;
        long b = v1;
        long c = v2;
        long d = v3;
        for (int round = 0; round < ROUNDS_LAST; round++) {
            a += b;
            b = Long.rotateLeft(b, 13) ^ a;
            a = Long.rotateLeft(a, 32);
            c += d;
            d = Long.rotateLeft(d, 16) ^ c;
            a += d;
            d = Long.rotateLeft(d, 21) ^ a;
            c += b;
            b = Long.rotateLeft(b, 17) ^ c;
            c = Long.rotateLeft(c, 32);
        }
        v0 = a;
        v1 = b;
        v2 = c;
        v3 = d;
        return a ^ b ^ c ^ d;
    }

    /// Writes the output, 16 bytes.
    public void write(final MemorySegment memory, final long offset) {
        memory.set(WORD, offset, first);
        memory.set(WORD, offset + Long.BYTES, second);
    }

    /// Whether these 16 bytes are the output; the time that takes does not depend on them.
    public boolean matches(final MemorySegment memory, final long offset) {
        return ((memory.get(WORD, offset) ^ first) | (memory.get(WORD, offset + Long.BYTES) ^ second)) == 0;
    }
}
