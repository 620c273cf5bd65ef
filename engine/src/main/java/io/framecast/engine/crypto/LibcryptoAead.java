package io.framecast.engine.crypto;

import io.framecast.engine.libc.Libcrypto;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// libcrypto's ciphers: a context for each direction, which keeps the key's schedule.
final class LibcryptoAead implements Aead {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final String name;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment nonce = arena.allocate(NONCE_BYTES, Long.BYTES);
    private final MemorySegment written = arena.allocate(Integer.BYTES, Integer.BYTES);
    private final long sealing;
    private final long opening;

    LibcryptoAead(final String word, final String library, final SecretBytes key) {
        name = word + " by libcrypto";
        if (key.length() != Cipher.KEY_BYTES) {
            throw new IllegalArgumentException("expected a key of " + Cipher.KEY_BYTES + " bytes, got " + key.length());
        }
        final long cipher = Libcrypto.fetchCipher(library);
        sealing = Libcrypto.newContext();
        opening = Libcrypto.newContext();
        final long address = key.segment().address();
        final boolean ready = cipher != 0
                && sealing != 0
                && opening != 0
                && Libcrypto.init(sealing, cipher, address, nonce.address(), true)
                && Libcrypto.init(opening, cipher, address, nonce.address(), false);
        if (cipher != 0) {
            Libcrypto.freeCipher(cipher);
        }
        if (!ready) {
            close();
            throw new IllegalStateException("libcrypto has no " + library);
        }
    }

    @Override
    public String name() {
        return name;
    }

    private boolean pass(
            final long context,
            final boolean encrypts,
            final int lane,
            final long number,
            final MemorySegment header,
            final MemorySegment payload) {
        nonce.set(INT, 0, lane);
        nonce.set(LONG, Integer.BYTES, number);
        final int bytes = (int) payload.byteSize();
        return Libcrypto.init(context, 0, 0, nonce.address(), encrypts)
                && Libcrypto.update(context, encrypts, 0, written.address(), header.address(), (int) header.byteSize())
                && (bytes == 0
                        || Libcrypto.update(
                                context, encrypts, payload.address(), written.address(), payload.address(), bytes));
    }

    @Override
    public void seal(
            final int lane,
            final long number,
            final MemorySegment header,
            final MemorySegment payload,
            final MemorySegment tag) {
        // What it would write behind the payload is nothing: any address serves.
        if (!pass(sealing, true, lane, number, header, payload)
                || !Libcrypto.finish(sealing, true, nonce.address(), written.address())
                || !Libcrypto.readTag(sealing, tag.address(), TAG_BYTES)) {
            throw new IllegalStateException(name + ": cannot seal");
        }
    }

    @Override
    public boolean open(
            final int lane,
            final long number,
            final MemorySegment header,
            final MemorySegment payload,
            final MemorySegment tag) {
        return pass(opening, false, lane, number, header, payload)
                && Libcrypto.writeTag(opening, tag.address(), TAG_BYTES)
                && Libcrypto.finish(opening, false, nonce.address(), written.address());
    }

    @Override
    public void close() {
        Libcrypto.freeContext(sealing);
        Libcrypto.freeContext(opening);
        arena.close();
    }
}
