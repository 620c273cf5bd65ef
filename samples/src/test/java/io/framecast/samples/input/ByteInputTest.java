package io.framecast.samples.input;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.framecast.api.error.ConfigException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.Pipe;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

final class ByteInputTest {
    @TempDir
    private Path directory;

    private static byte[] randomBytes(final int count) {
        final byte[] bytes = new byte[count];
        new Random(count).nextBytes(bytes);
        return bytes;
    }

    /// Frame lengths; the frames' bytes go to `all`.
    private static List<Long> readAll(final FrameInput input, final ByteArrayOutputStream all) throws IOException {
        final List<Long> lengths = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            for (long next = input.nextBytes(); next > 0; next = input.nextBytes()) {
                final MemorySegment target = arena.allocate(next);
                final long count = input.read(target);
                if (count > 0) {
                    lengths.add(count);
                    all.writeBytes(target.asSlice(0, count).toArray(ValueLayout.JAVA_BYTE));
                }
            }
        }
        return lengths;
    }

    @Test
    void shouldCutAFileWithItsRestAsLastFrame() throws IOException {
        final byte[] content = randomBytes(2_500);
        final Path file = Files.write(directory.resolve("f"), content);
        final ByteArrayOutputStream all = new ByteArrayOutputStream();
        try (ByteInput input = ByteInput.ofFile(file, 1_000)) {
            assertEquals(List.of(1_000L, 1_000L, 500L), readAll(input, all));
        }
        assertArrayEquals(content, all.toByteArray());
    }

    @Test
    void shouldEndWithAWholeFrameWhenTheLengthFits() throws IOException {
        final Path file = Files.write(directory.resolve("f"), randomBytes(2_000));
        try (ByteInput input = ByteInput.ofFile(file, 1_000)) {
            assertEquals(List.of(1_000L, 1_000L), readAll(input, new ByteArrayOutputStream()));
        }
    }

    @Test
    void shouldGiveNoFrameWhenTheFileIsEmpty() throws IOException {
        final Path file = Files.write(directory.resolve("f"), new byte[0]);
        try (ByteInput input = ByteInput.ofFile(file, 1_000)) {
            assertEquals(List.of(), readAll(input, new ByteArrayOutputStream()));
        }
    }

    @Test
    void shouldFillFramesFromAPipeThatGivesAFewBytesAtATime() throws IOException {
        final byte[] content = randomBytes(2_345);
        final InputStream drops = new ByteArrayInputStream(content) {
            @Override
            public synchronized int read(final byte[] target, final int offset, final int length) {
                return super.read(target, offset, Math.min(length, 7));
            }
        };
        final ByteArrayOutputStream all = new ByteArrayOutputStream();
        try (ByteInput input = ByteInput.ofPipe("stdin", Channels.newChannel(drops), 1_000, ByteInput.Length.LIVE)) {
            assertEquals(List.of(1_000L, 1_000L, 345L), readAll(input, all));
        }
        assertArrayEquals(content, all.toByteArray());
    }

    @Test
    void shouldNameTheReasonWhenAFileCannotBeOpened() throws IOException {
        final Path missing = directory.resolve("missing");
        assertEquals("cannot read " + missing + ": no such file", complaint(missing));
        assertEquals("cannot read " + directory + ": expected a file, got a directory", complaint(directory));
        final Path closed = Files.write(directory.resolve("closed"), new byte[1]);
        assumeTrue(closed.toFile().setReadable(false) && !Files.isReadable(closed), "runs as root: can read all files");
        assertEquals("cannot read " + closed + ": permission denied", complaint(closed));
    }

    private static String complaint(final Path file) {
        return assertThrows(
                        ConfigException.class, () -> ByteInput.ofFile(file, 10).close())
                .getMessage();
    }

    @Test
    void shouldComplainWhenTheFileShrinksWhileItIsRead() throws IOException {
        final Path file = Files.write(directory.resolve("f"), randomBytes(3_000));
        try (ByteInput input = ByteInput.ofFile(file, 1_000);
                Arena arena = Arena.ofConfined()) {
            input.read(arena.allocate(1_000));
            try (RandomAccessFile shrink = new RandomAccessFile(file.toFile(), "rw")) {
                shrink.setLength(1_500);
            }
            final IOException e = assertThrows(IOException.class, () -> input.read(arena.allocate(1_000)));
            assertTrue(e.getMessage().contains("it was cut to 1500 of 3000 bytes"), e.getMessage());
        }
    }

    @Test
    void shouldEndAReadThatWaitsWhenCancelled() throws Exception {
        final Pipe pipe = Pipe.open();
        try (ByteInput input = ByteInput.ofPipe("stdin", pipe.source(), 1_000, ByteInput.Length.LIVE);
                Arena arena = Arena.ofShared()) {
            final MemorySegment target = arena.allocate(1_000);
            final Thread canceller = Thread.ofPlatform().start(input::cancel);
            assertEquals(0, input.read(target));
            canceller.join();
            assertEquals(0, input.read(target), "stays ended");
        }
    }

    @Test
    void shouldKnowThatAFileIsUnfinishedUntilItsLastByteWasRead() throws IOException {
        final Path file = Files.write(directory.resolve("f"), randomBytes(1_500));
        try (ByteInput input = ByteInput.ofFile(file, 1_000);
                Arena arena = Arena.ofConfined()) {
            assertTrue(input.isUnfinished());
            assertEquals(1_000, input.read(arena.allocate(1_000)));
            assertTrue(input.isUnfinished());
            assertEquals(500, input.read(arena.allocate(input.nextBytes())));
            assertFalse(input.isUnfinished());
        }
        try (ByteInput input = ByteInput.ofFile(file, 1_000);
                Arena arena = Arena.ofConfined()) {
            input.cancel();
            assertEquals(0, input.read(arena.allocate(1_000)));
            assertTrue(input.isUnfinished(), "cancelled before its end");
        }
    }

    @Test
    void shouldTakeStdinForAFileWhenTheShellOpenedOne() throws IOException {
        final Path file = Files.write(directory.resolve("f"), randomBytes(1_500));
        final FrameShape shape = new FrameShape(1_000, VideoFormat.DEFAULT, false);
        try (InputStream stdin = new FileInputStream(file.toFile());
                FrameInput input = new InputSpec.Stdin().open(shape, 0, stdin)) {
            assertTrue(input.isUnfinished());
            readAll(input, new ByteArrayOutputStream());
            assertFalse(input.isUnfinished());
        }
        try (FrameInput input = new InputSpec.Stdin().open(shape, 0, new ByteArrayInputStream(new byte[9]))) {
            assertFalse(input.isUnfinished(), "a pipe may go on for ever");
        }
    }

    private Path fifo() throws IOException, InterruptedException {
        final Path fifo = directory.resolve("fifo");
        final int status = new ProcessBuilder("mkfifo", fifo.toString())
                .inheritIO()
                .start()
                .waitFor();
        assumeTrue(status == 0, "no FIFO can be made here");
        return fifo;
    }

    @Test
    @Timeout(120)
    void shouldWaitForAFifosWriterOnlyWhenItIsRead() throws Exception {
        final byte[] content = randomBytes(2_500);
        final Path fifo = fifo();
        final ByteArrayOutputStream all = new ByteArrayOutputStream();
        try (ByteInput input = ByteInput.ofFile(fifo, 1_000)) {
            assertFalse(input.isUnfinished());
            final Thread writer = Thread.ofPlatform().daemon().start(() -> write(fifo, content));
            assertEquals(List.of(1_000L, 1_000L, 500L), readAll(input, all));
            writer.join();
        }
        assertArrayEquals(content, all.toByteArray());
    }

    private static void write(final Path file, final byte[] content) {
        try {
            Files.write(file, content, StandardOpenOption.WRITE);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    @Timeout(120)
    void shouldStopWaitingForAFifosWriterWhenCancelled() throws Exception {
        final Path fifo = fifo();
        try (ByteInput input = ByteInput.ofFile(fifo, 1_000);
                Arena arena = Arena.ofShared()) {
            final Thread canceller = Thread.ofPlatform().start(input::cancel);
            assertEquals(0, input.read(arena.allocate(1_000)));
            assertEquals(0, input.nextBytes());
            canceller.join();
        }
        // A thread may still wait for a writer: it is let go.
        FileChannel.open(fifo, StandardOpenOption.READ, StandardOpenOption.WRITE)
                .close();
    }
}
