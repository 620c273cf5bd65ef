package io.framecast.samples.subscribe;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.ConfigException;
import io.framecast.samples.Console;
import io.framecast.samples.Stop;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FrameOutputTest {
    private static final byte[] FRAME = {1, 2, 3};

    @TempDir
    private Path directory;

    private static FrameOutput open(final Path file, final boolean synced) {
        return FrameOutput.open(
                file,
                synced,
                Duration.ZERO,
                new Console(new PrintStream(OutputStream.nullOutputStream()), false),
                new Stop());
    }

    @Test
    void shouldWriteAndFlushAFile() throws IOException {
        for (final boolean synced : new boolean[] {true, false}) {
            final Path file = directory.resolve("out-" + synced);
            try (FrameOutput output = open(file, synced)) {
                output.write(MemorySegment.ofArray(FRAME));
                output.flush();
            }
            assertArrayEquals(FRAME, Files.readAllBytes(file));
        }
    }

    @Test
    void shouldFlushNoDevice() {
        try (FrameOutput output = open(Path.of("/dev/null"), true)) {
            output.write(MemorySegment.ofArray(FRAME));
            output.flush();
        }
    }

    @Test
    void shouldSayThatTheDiskDidNotTakeTheFile() {
        final AtomicInteger flushes = new AtomicInteger();
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        final FrameOutput output = new FrameOutput("copy.bin", Channels.newChannel(bytes), () -> {
            flushes.incrementAndGet();
            throw new IOException("Input/output error");
        });
        output.write(MemorySegment.ofArray(FRAME));
        assertEquals(0, flushes.get());
        final ConfigException refused = assertThrows(ConfigException.class, output::flush);
        assertEquals("--out: cannot flush copy.bin to disk: Input/output error", refused.getMessage());
        assertTrue(bytes.size() == FRAME.length);
        output.close();
    }
}
