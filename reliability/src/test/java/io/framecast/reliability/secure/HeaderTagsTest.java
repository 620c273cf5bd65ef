package io.framecast.reliability.secure;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.crypto.Crypto;
import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Tags of headers.
final class HeaderTagsTest {
    private final Arena arena = Arena.ofConfined();
    private final DataKeys sealing = new DataKeys();
    private final DataKeys opening = new DataKeys();
    private final HeaderTags source = new HeaderTags(sealing);
    private final HeaderTags receiver = new HeaderTags(opening);
    private final MemorySegment datagram = arena.allocate(3L * DataLayout.SEALED_LENGTH, 8);

    private static byte[] counting(final int bytes, final int from) {
        final byte[] array = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            array[i] = (byte) (from + i);
        }
        return array;
    }

    private static void begin(final DataKeys keys, final int epoch, final int key) {
        final SecretBytes group = SecretBytes.take(counting(32, 99));
        keys.epochs().add(new EpochKeys(Crypto.JDK, epoch, group, SecretBytes.take(counting(32, key))));
        keys.change(epoch);
    }

    @AfterEach
    void close() {
        source.close();
        receiver.close();
        sealing.close();
        opening.close();
        arena.close();
    }

    private boolean opens() {
        return receiver.open(datagram, 64, datagram, 0, 0);
    }

    private void seal() {
        source.seal(datagram, 64, datagram, 0, 0);
    }

    @Test
    void shouldOpenTheSourcesHeadersAlone() {
        begin(sealing, 1, 7);
        begin(opening, 1, 7);
        seal();
        assertTrue(opens());
        // Each bit of the 64 bytes but those behind it.
        for (int bit = 0; bit < 8 * DataLayout.SEALED_LENGTH; bit++) {
            final long at = 64L + bit / 8;
            final byte before = datagram.get(ValueLayout.JAVA_BYTE, at);
            datagram.set(ValueLayout.JAVA_BYTE, at, (byte) (before ^ (1 << (bit % 8))));
            assertFalse(opens(), "bit " + bit);
            datagram.set(ValueLayout.JAVA_BYTE, at, before);
        }
        assertTrue(opens());
    }

    @Test
    void shouldTakeTwoEpochs() {
        assertFalse(opens(), "no key yet");
        begin(sealing, 1, 7);
        begin(opening, 1, 7);
        seal();
        begin(opening, 2, 8);
        assertTrue(opens(), "the epoch before");
        begin(sealing, 2, 8);
        seal();
        assertTrue(opens());
        begin(opening, 3, 9);
        opening.epochs().removeFirst().close();
        opening.epochs().removeFirst().close();
        opening.change(3);
        assertFalse(opens(), "an old epoch");
        begin(sealing, 3, 8);
        seal();
        assertFalse(opens(), "another key");
    }
}
