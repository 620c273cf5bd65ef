package io.framecast.engine.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.framecast.api.error.ConfigException;
import io.framecast.engine.libc.Linux;
import io.framecast.testing.TestJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Files of other processes: read while they live, kept while they live, removed when they were killed.
final class CounterFileTest {
    @TempDir
    private Path directory;

    /// A process with one counter at 41, which it makes 42 on request, and then waits to be killed.
    static final class Writer {
        private Writer() {}

        public static void main(final String[] args) throws IOException {
            final CounterTable table = args[1].isEmpty()
                    ? CounterTable.createBelow(Path.of(args[0]))
                    : CounterTable.create(Path.of(args[1]));
            final Counter counter = table.allocate(EngineCounter.FRAMES_PUBLISHED, Labels.of("channel", "child"));
            counter.setOrdered(41);
            System.out.println(table.path());
            while (System.in.read() == '+') {
                counter.add(1);
                System.out.println("added");
            }
        }
    }

    @Test
    void shouldReadAndKeepFileWhileProcessLivesAndRemoveItWhenKilled() throws Exception {
        final Process child = start("");
        try (BufferedReader output = child.inputReader(StandardCharsets.UTF_8)) {
            final Path file = Path.of(output.readLine());
            assertEquals(child.pid() + ".counters", String.valueOf(file.getFileName()));
            try (CounterReader reader = CounterReader.open(file)) {
                assertEquals(child.pid(), reader.pid());
                assertEquals(41, published(reader));
                child.getOutputStream().write('+');
                child.getOutputStream().flush();
                assertEquals("added", output.readLine());
                assertEquals(42, published(reader));
                CounterTable.createBelow(directory).close();
                assertTrue(Files.exists(file), "its process lives");
                child.destroyForcibly().waitFor();
                assertEquals(42, published(reader), "what a dead process counted can still be read");
                final Path foreign = Files.writeString(file.resolveSibling("1.counters"), "x".repeat(4096));
                try (CounterTable table = CounterTable.createBelow(directory)) {
                    assertFalse(Files.exists(file), "its process is gone");
                    assertTrue(Files.exists(foreign), "not ours to delete");
                    assertTrue(Files.exists(table.path()));
                }
            }
        } finally {
            child.destroyForcibly();
        }
    }

    @Test
    void shouldReplaceChosenFileOnlyWhenItsProcessIsGone() throws Exception {
        final Path chosen = directory.resolve("chosen");
        final Process child = start(chosen.toString());
        try (BufferedReader output = child.inputReader(StandardCharsets.UTF_8)) {
            assertEquals(chosen.toString(), output.readLine());
            final ConfigException refused = assertThrows(ConfigException.class, () -> CounterTable.create(chosen));
            assertTrue(refused.getMessage().contains("choose another"), refused.getMessage());
            child.destroyForcibly().waitFor();
            try (CounterTable table = CounterTable.create(chosen);
                    CounterReader reader = CounterReader.open(chosen)) {
                assertEquals(ProcessHandle.current().pid(), reader.pid());
                assertEquals(chosen, table.path());
            }
        } finally {
            child.destroyForcibly();
        }
    }

    @Test
    void shouldTakeAnotherNameWhenProcessHasSeveralTables() {
        try (CounterTable first = CounterTable.createBelow(directory);
                CounterTable second = CounterTable.createBelow(directory)) {
            final long pid = ProcessHandle.current().pid();
            assertEquals(pid + ".counters", String.valueOf(first.path().getFileName()));
            assertEquals(pid + "-2.counters", String.valueOf(second.path().getFileName()));
            assertTrue(Files.exists(first.path()));
        }
    }

    @Test
    void shouldReplaceFileOfEarlierProcessWhenItHadTheSameId() throws IOException {
        final Path left;
        final byte[] bytes;
        try (CounterTable table = CounterTable.createBelow(directory)) {
            left = table.path();
            bytes = Files.readAllBytes(left);
        }
        Files.write(left, bytes);
        try (CounterTable table = CounterTable.createBelow(directory)) {
            assertEquals(left, table.path());
        }
    }

    @Test
    void shouldRefuseWhenFileIsSomethingElse() throws IOException {
        final Path notes = Files.writeString(directory.resolve("notes.txt"), "precious ".repeat(100));
        assertThrows(ConfigException.class, () -> CounterTable.create(notes));
        assertEquals("precious ".repeat(100), Files.readString(notes));
        final Path link = Files.createSymbolicLink(directory.resolve("link"), notes);
        assertThrows(ConfigException.class, () -> CounterTable.create(link));
        final ConfigException missing =
                assertThrows(ConfigException.class, () -> CounterTable.create(directory.resolve("none/table")));
        assertTrue(missing.getMessage().contains("no such directory"), missing.getMessage());
    }

    @Test
    void shouldRefuseWhenDirectoryIsALink() throws IOException {
        final Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
        final String user = System.getProperty("user.name").replaceAll("[^A-Za-z0-9._-]", "_");
        Files.createSymbolicLink(directory.resolve("framecast-" + user), elsewhere);
        final ConfigException refused = assertThrows(ConfigException.class, () -> CounterTable.createBelow(directory));
        assertTrue(refused.getMessage().contains("choose a counters file elsewhere"), refused.getMessage());
        try (var files = Files.list(elsewhere)) {
            assertEquals(0, files.count());
        }
    }

    /// A container that shares the directory has processes of its own numbers: what is here by this number is
    /// no process, or another one.
    @Test
    void shouldSeeThatAProcessOfAnotherContainerRuns() throws Exception {
        final Process child = start("");
        try (BufferedReader output = child.inputReader(StandardCharsets.UTF_8)) {
            final Path file = Path.of(output.readLine());
            final Path foreign = file.resolveSibling("999999999.counters");
            Files.move(file, foreign);
            try (FileChannel header = FileChannel.open(foreign, StandardOpenOption.WRITE)) {
                final ByteBuffer id = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
                header.write(id.putLong(0, 999_999_999), CounterLayout.PID_OFFSET);
            }
            assertEquals(List.of(foreign), CounterFile.running(directory));
            CounterTable.createBelow(directory).close();
            assertTrue(Files.exists(foreign), "its process lives");
            child.destroyForcibly().waitFor();
            assertEquals(List.of(), CounterFile.running(directory));
        } finally {
            child.destroyForcibly();
        }
    }

    @Test
    void shouldKnowItsOwnFilesAndKeepTheirLocksBesideReaders() throws Exception {
        try (CounterTable table = CounterTable.createBelow(directory)) {
            assertTrue(CounterReader.own().contains(table.path()));
            CounterReader.open(table.path()).close();
            try (FileChannel other = FileChannel.open(table.path(), StandardOpenOption.READ, StandardOpenOption.WRITE);
                    FileLock lock = other.tryLock()) {
                assertTrue(!Linux.isPresent() || lock == null, "it is locked yet");
            }
        }
    }

    private Process start(final String chosen) throws IOException {
        return new ProcessBuilder(TestJvm.command(Writer.class, directory.toString(), chosen))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static long published(final CounterReader reader) {
        return reader.samples().stream()
                .filter(sample -> sample.name().equals(EngineCounter.FRAMES_PUBLISHED.exportedName())
                        && sample.labels().equals("channel=\"child\""))
                .findFirst()
                .orElseThrow()
                .value();
    }
}
