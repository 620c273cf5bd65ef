package io.framecast.reliability.crypto;

import io.framecast.reliability.wire.Wire;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// SipHash-2-4 with 128 bits of output (Aumasson and Bernstein 2012, "SipHash: a fast short-input PRF", §2; 128 bits:
/// the authors' reference code), a keyed function that is fast on a header. Its output authenticates: without the key,
/// the output for one input says nothing of that for another.
///
/// An input begins once and may end several times, in two words of 8 bytes each. The state behind its beginning is
/// worth as much as the key, so it lies outside the heap and is wiped. One thread.
public final class SipHash implements AutoCloseable {
    /// Length of its keys.
    public static final int KEY_BYTES = 16;

    private static final int STATE_BYTES = 32;
    private static final int WIDE_BEGIN = 0xee;
    private static final int WIDE_END = 0xdd;
    private static final int ROUNDS = 2;
    private static final int ROUNDS_LAST = 4;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment state = arena.allocate(STATE_BYTES, Long.BYTES);
    private int begun;
    private long first;
    private long second;

    /// Begins an input.
    ///
    /// @param key at least [#KEY_BYTES], of which the first count
    public void begin(final MemorySegment key) {
        final long k0 = Wire.getLong(key, 0);
        final long k1 = Wire.getLong(key, Long.BYTES);
        begun = 0;
        keep(
                k0 ^ 0x736f6d6570736575L,
                k1 ^ 0x646f72616e646f6dL ^ WIDE_BEGIN,
                k0 ^ 0x6c7967656e657261L,
                k1 ^ 0x7465646279746573L);
    }

    private void keep(final long a, final long b, final long c, final long d) {
        Wire.setLong(state, 0, a);
        Wire.setLong(state, 8, b);
        Wire.setLong(state, 16, c);
        Wire.setLong(state, 24, d);
    }

    /// Adds 8 bytes to the beginning, the lowest first.
    public void add(final long word) {
        long a = Wire.getLong(state, 0);
        long b = Wire.getLong(state, 8);
        long c = Wire.getLong(state, 16);
        long d = Wire.getLong(state, 24) ^ word;
        for (int round = 0; round < ROUNDS; round++) {
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
        keep(a ^ word, b, c, d);
        begun += Long.BYTES;
    }

    /// Computes the output for the beginning and two words more.
    public void end(final long next, final long last) {
        long a = Wire.getLong(state, 0);
        long b = Wire.getLong(state, 8);
        long c = Wire.getLong(state, 16);
        long d = Wire.getLong(state, 24);
        // The word behind the input has its length alone.
        final long length = (begun + 2L * Long.BYTES) << 56;
        // One loop for words and halves of the output takes half as long again.
        for (int i = 0; i < 3; i++) {
            final long word = i == 0 ? next : i == 1 ? last : length;
            d ^= word;
            for (int round = 0; round < ROUNDS; round++) {
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
        c ^= WIDE_BEGIN;
        for (int half = 0; half < 2; half++) {
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
            first = half == 0 ? a ^ b ^ c ^ d : first;
            second = a ^ b ^ c ^ d;
            b ^= WIDE_END;
        }
    }

    /// Writes the output, 16 bytes.
    public void write(final MemorySegment memory, final long offset) {
        Wire.setLong(memory, offset, first);
        Wire.setLong(memory, offset + Long.BYTES, second);
    }

    /// Whether these 16 bytes are the output; the time that takes does not depend on them.
    public boolean matches(final long low, final long high) {
        return ((low ^ first) | (high ^ second)) == 0;
    }

    /// Forgets the beginning.
    public void forget() {
        state.fill((byte) 0);
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            forget();
            arena.close();
        }
    }
}
