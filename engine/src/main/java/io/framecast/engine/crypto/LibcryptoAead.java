package io.framecast.engine.crypto;

import io.framecast.engine.libc.Libcrypto;
import io.framecast.reliability.crypto.Aead;
import io.framecast.reliability.crypto.Cipher;
import io.framecast.reliability.crypto.SecretBytes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;

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
            final long header,
            final int headerBytes,
            final long payload,
            final int payloadBytes) {
        nonce.set(INT, 0, lane);
        nonce.set(LONG, Integer.BYTES, number);
        return Libcrypto.init(context, 0, 0, nonce.address(), encrypts)
                && Libcrypto.update(context, encrypts, 0, written.address(), header, headerBytes)
                && (payloadBytes == 0
                        || Libcrypto.update(context, encrypts, payload, written.address(), payload, payloadBytes));
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
        final long begin = addressIn(headers, header, headerBytes);
        final long sealed = addressIn(payloads, at, payloadBytes);
        final long tag = addressIn(headers, tagAt, TAG_BYTES);
        // It writes nothing behind the payload: any address serves.
        if (!pass(sealing, true, lane, number, begin, headerBytes, sealed, payloadBytes)
                || !Libcrypto.finish(sealing, true, nonce.address(), written.address())
                || !Libcrypto.readTag(sealing, tag, TAG_BYTES)) {
            throw new IllegalStateException(name + ": cannot seal");
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
        final long begin = addressIn(headers, header, headerBytes);
        final long opened = addressIn(payloads, at, payloadBytes);
        final long tag = addressIn(headers, tagAt, TAG_BYTES);
        return pass(opening, false, lane, number, begin, headerBytes, opened, payloadBytes)
                && Libcrypto.writeTag(opening, tag, TAG_BYTES)
                && Libcrypto.finish(opening, false, nonce.address(), written.address());
    }

    // A slice of each part would be allocated.
    private static long addressIn(final MemorySegment memory, final long at, final int bytes) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("expected native memory");
        }
        return memory.address() + Objects.checkFromIndexSize(at, bytes, memory.byteSize());
    }

    @Override
    public void close() {
        Libcrypto.freeContext(sealing);
        Libcrypto.freeContext(opening);
        arena.close();
    }
}
