package io.framecast.reliability.window;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Payload memory that is longer than one buffer can be: a file of holes, of which a few pages are written.
final class PayloadChecksumTest {
    private static final int SLOT_BYTES = 1 << 16;
    // Two buffers of 1 GiB, but for one slot.
    private static final int SLOTS = (1 << 15) - 1;

    @TempDir
    private Path directory;

    private static byte[] content(final int slot) {
        final byte[] content = new byte[100];
        for (int i = 0; i < content.length; i++) {
            content[i] = (byte) (slot * 31 + i);
        }
        return content;
    }

    @Test
    void shouldSumSlotsOnBothSidesOfAGibibyte() throws IOException {
        final int[] slots = {0, 1, SLOTS / 2, SLOTS / 2 + 1, SLOTS / 2 + 2, SLOTS - 1};
        final Path file = directory.resolve("payloads");
        try (Arena arena = Arena.ofConfined();
                FileChannel channel = FileChannel.open(
                        file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            final MemorySegment payloads = channel.map(MapMode.READ_WRITE, 0, (long) SLOTS * SLOT_BYTES, arena);
            for (final int slot : slots) {
                MemorySegment.copy(content(slot), 0, payloads, JAVA_BYTE, (long) slot * SLOT_BYTES, 100);
            }
            final PayloadChecksum sums = new PayloadChecksum(payloads, SLOTS, SLOT_BYTES);
            for (final int slot : slots) {
                final CRC32C expected = new CRC32C();
                expected.update(content(slot));
                assertEquals((int) expected.getValue(), sums.of(slot, 100), "slot " + slot);
            }
        }
    }
}
