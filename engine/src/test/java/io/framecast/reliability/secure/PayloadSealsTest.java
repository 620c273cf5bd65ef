package io.framecast.reliability.secure;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.engine.crypto.SystemCrypto;
import io.framecast.reliability.crypto.Cipher;
import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.wire.DataHeader;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Encrypted payloads of datagrams.
final class PayloadSealsTest {
    private static final int BYTES = 1000;
    private static final long SESSION = 77;

    private final Arena arena = Arena.ofConfined();
    private final DataKeys sealing = new DataKeys();
    private final DataKeys opening = new DataKeys();
    private final MemorySegment headers = arena.allocate(2L * DataLayout.SEALED_LENGTH, 8);
    private final MemorySegment payloads = arena.allocate(2L * BYTES, 8);

    private static void begin(final DataKeys keys, final int epoch, final int key) {
        final byte[] bytes = new byte[Cipher.KEY_BYTES];
        Arrays.fill(bytes, (byte) key);
        final SecretBytes data = SecretBytes.take(bytes.clone());
        keys.epochs().add(new EpochKeys(SystemCrypto.get(), epoch, SecretBytes.take(bytes), data));
        keys.change(epoch);
    }

    @AfterEach
    void close() {
        sealing.close();
        opening.close();
        arena.close();
    }

    private void write(final int type, final long sequence) {
        DataLayout.write(headers, 0, new DataHeader().session(type, SESSION).frame(3, BYTES, 5), sequence, 0);
        for (int i = 0; i < BYTES; i++) {
            payloads.set(ValueLayout.JAVA_BYTE, i, (byte) (i % 11));
        }
    }

    private byte[] payload(final int slot) {
        return payloads.asSlice((long) slot * BYTES, BYTES).toArray(ValueLayout.JAVA_BYTE);
    }

    private void flip(final MemorySegment memory, final long at) {
        memory.set(ValueLayout.JAVA_BYTE, at, (byte) (memory.get(ValueLayout.JAVA_BYTE, at) ^ 1));
    }

    @ParameterizedTest
    @EnumSource
    void shouldOpenWhatTheSourceSealedAlone(final Cipher cipher) {
        begin(sealing, 1, 7);
        begin(opening, 1, 7);
        try (PayloadSeals source = new PayloadSeals(sealing, cipher, SystemCrypto.get());
                PayloadSeals receiver = new PayloadSeals(opening, cipher, SystemCrypto.get())) {
            write(DataLayout.TYPE_DATA, 12);
            final byte[] plain = payload(0);
            source.seal(headers, 0, payloads, 0, BYTES);
            final byte[] sealed = payload(0);
            assertFalse(Arrays.equals(plain, sealed));
            for (int at = 0; at < DataLayout.SEALED_LENGTH; at++) {
                flip(headers, at);
                assertFalse(receiver.open(headers, 0, payloads, 0, BYTES), "byte " + at + " of the header");
                MemorySegment.copy(sealed, 0, payloads, ValueLayout.JAVA_BYTE, 0, BYTES);
                flip(headers, at);
            }
            for (int at = 0; at < BYTES; at += 37) {
                flip(payloads, at);
                assertFalse(receiver.open(headers, 0, payloads, 0, BYTES), "byte " + at + " of the payload");
                MemorySegment.copy(sealed, 0, payloads, ValueLayout.JAVA_BYTE, 0, BYTES);
            }
            assertFalse(receiver.open(headers, 0, payloads, 0, BYTES - 1), "a byte less");
            MemorySegment.copy(sealed, 0, payloads, ValueLayout.JAVA_BYTE, 0, BYTES);
            assertTrue(receiver.open(headers, 0, payloads, 0, BYTES));
            assertArrayEquals(plain, payload(0));
            // A co-root's copy.
            MemorySegment.copy(payloads, 0, payloads, BYTES, BYTES);
            receiver.reseal(headers, 0, payloads, BYTES, BYTES);
            assertArrayEquals(sealed, payload(1));
            assertTrue(receiver.open(headers, 0, payloads, BYTES, BYTES));
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldNotSealTwoSequencesOrEpochsAlike(final Cipher cipher) {
        begin(sealing, 1, 7);
        try (PayloadSeals source = new PayloadSeals(sealing, cipher, SystemCrypto.get())) {
            write(DataLayout.TYPE_DATA, 12);
            source.seal(headers, 0, payloads, 0, BYTES);
            final byte[] first = payload(0);
            write(DataLayout.TYPE_DATA, 13);
            source.seal(headers, 0, payloads, 0, BYTES);
            assertFalse(Arrays.equals(first, payload(0)));
            begin(sealing, 2, 8);
            write(DataLayout.TYPE_DATA, 12);
            source.seal(headers, 0, payloads, 0, BYTES);
            assertFalse(Arrays.equals(first, payload(0)));
            assertEquals(2, DataLayout.KEY_EPOCH.get(headers, 0));
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldTakeNoEpochThatHasEnded(final Cipher cipher) {
        begin(sealing, 1, 7);
        begin(opening, 1, 7);
        begin(opening, 2, 8);
        try (PayloadSeals source = new PayloadSeals(sealing, cipher, SystemCrypto.get());
                PayloadSeals receiver = new PayloadSeals(opening, cipher, SystemCrypto.get())) {
            write(DataLayout.TYPE_DATA, 12);
            source.seal(headers, 0, payloads, 0, BYTES);
            assertTrue(receiver.open(headers, 0, payloads, 0, BYTES), "the epoch before");
            receiver.reseal(headers, 0, payloads, 0, BYTES);
            opening.epochs().removeFirst().close();
            opening.change(2);
            assertFalse(receiver.open(headers, 0, payloads, 0, BYTES));
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldSealProbesAgainAndAgain(final Cipher cipher) {
        begin(sealing, 1, 7);
        begin(opening, 1, 7);
        try (PayloadSeals source = new PayloadSeals(sealing, cipher, SystemCrypto.get());
                PayloadSeals receiver = new PayloadSeals(opening, cipher, SystemCrypto.get())) {
            write(DataLayout.TYPE_PROBE, 0);
            for (int i = 0; i < 3; i++) {
                final byte[] payload = payload(0);
                source.seal(headers, 0, payloads, 0, BYTES);
                assertArrayEquals(payload, payload(0));
                assertTrue(receiver.open(headers, 0, payloads, 0, BYTES));
            }
        }
    }
}
