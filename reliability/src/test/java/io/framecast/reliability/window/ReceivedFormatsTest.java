package io.framecast.reliability.window;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.reliability.wire.FormatLayout;
import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/// Numbers are used again, and a receiver with gaps must notice.
final class ReceivedFormatsTest {
    private final SendFormats sent = new SendFormats();
    private final ReceivedFormats received = new ReceivedFormats();

    private StreamFormat use(final int kind, final long cursor) {
        assertTrue(sent.use(new byte[] {(byte) kind}, cursor, cursor));
        return Objects.requireNonNull(sent.format());
    }

    private void receive(final StreamFormat format) {
        received.put(format.serial(), format.number(), format.firstSequence(), format.bytes());
    }

    @Test
    void shouldForgetAFormatThatNoFrameHad() {
        use(1, 0);
        use(2, 40);
        final StreamFormat format = use(3, 40);
        assertEquals(2, format.serial());
        assertEquals(2, format.number());
        assertEquals(1, use(1, 40).number());
        assertEquals(1, sent.announced().length);
    }

    @Test
    void shouldForgetAFormatThatNoFrameHadWhenThereIsNoNumberForTheNext() {
        for (int kind = 1; kind <= FormatLayout.NUMBERS; kind++) {
            use(kind, kind);
        }
        use(100, 50);
        assertTrue(sent.use(new byte[] {101}, 50, 50));
        assertFalse(sent.use(new byte[] {102}, 60, 0));
        assertEquals(FormatLayout.NUMBERS, sent.announced().length);
        assertEquals(101, Objects.requireNonNull(sent.format()).bytes()[0]);
    }

    @Test
    void shouldKeepOneFormatWhenAFrameIsLeftOut() {
        final StreamFormat format = use(1, 0);
        receive(format);
        received.onGap(1);
        assertNotNull(received.find(format.number(), 10, false));
    }

    /// All changes of numbers, and with them the first number's next format, are in the gap.
    @Test
    void shouldForgetFormatsBehindAsManyFramesAsThereAreNumbers() {
        final StreamFormat first = use(1, 0);
        receive(first);
        StreamFormat newest = first;
        for (int kind = 2; kind <= FormatLayout.NUMBERS + 1; kind++) {
            newest = use(kind, kind);
        }
        assertEquals(first.number(), newest.number());
        received.onGap(FormatLayout.NUMBERS);
        assertNull(received.find(newest.number(), newest.firstSequence() + 1, false));
        receive(newest);
        final StreamFormat found = received.find(newest.number(), newest.firstSequence() + 1, false);
        assertTrue(found != null && Arrays.equals(newest.bytes(), found.bytes()));
    }
}
