package io.framecast.perf.tail;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TailLogTest {
    private static final TailLog LOG = new TailLog(
            new long[] {7, 0, Long.MAX_VALUE},
            List.of(
                    new TailLog.Event(TailLog.Kind.LOST, 1L << 40, 3, -5),
                    new TailLog.Event(TailLog.Kind.LOST_REPAIR, 2, 4, 6)));

    @TempDir
    private Path folder;

    @Test
    void shouldReadWhatWasWritten() throws Exception {
        final Path file = folder.resolve("log");
        LOG.write(file);
        final TailLog read = TailLog.read(file);
        assertArrayEquals(LOG.atNs(), read.atNs());
        assertEquals(LOG.events(), read.events());
    }

    @Test
    void shouldRefuseWhatWasCutOrChanged() throws Exception {
        final Path file = folder.resolve("log");
        LOG.write(file);
        final byte[] whole = Files.readAllBytes(file);
        for (int length = 0; length < whole.length; length++) {
            refuse(file, Arrays.copyOf(whole, length));
        }
        refuse(file, Arrays.copyOf(whole, whole.length + 1));
        for (final int at : List.of(0, Long.BYTES, 5 * Long.BYTES, 6 * Long.BYTES)) {
            final byte[] changed = whole.clone();
            changed[at] = (byte) 0x80;
            refuse(file, changed);
        }
    }

    private static void refuse(final Path file, final byte[] content) throws IOException {
        Files.write(file, content);
        assertThrows(IOException.class, () -> TailLog.read(file));
    }
}
