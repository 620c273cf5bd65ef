package io.framecast.engine.metrics;

import io.framecast.api.error.ConfigException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// The file under a [CounterTable]: where it lies, who may have it, and when one that was left behind may go.
///
/// A file is stale when its process is gone *and* nobody holds its lock. The process alone would not do:
/// containers that share a temporary directory do not see each other's processes. The lock alone would not do
/// either: it goes when any reader in the same process closes the file.
final class CounterFile implements AutoCloseable {
    private static final String SUFFIX = ".counters";
    private static final int TABLES_PER_PROCESS_MAX = 64;

    /// Heap arrays promise no alignment.
    private static final ValueLayout.OfLong UNALIGNED_LONG = CounterLayout.LONG.withByteAlignment(1);

    /// Opening and closing one of our own files would drop its lock.
    private static final Set<Path> OWN = ConcurrentHashMap.newKeySet();

    private final Path path;
    private final FileChannel channel;

    private CounterFile(final Path path, final FileChannel channel) {
        this.path = path;
        this.channel = channel;
        OWN.add(path);
    }

    Path path() {
        return path;
    }

    /// Makes `<temporary>/framecast-<user>/<pid>.counters`, or `<pid>-2.counters` and so on for further
    /// tables.
    static CounterFile ofProcess(final Path temporary) {
        final Path directory = directory(temporary);
        try {
            makeDirectory(directory);
            removeStale(directory);
            for (int n = 1; n <= TABLES_PER_PROCESS_MAX; n++) {
                final String copy = n == 1 ? "" : "-" + n;
                final Path path = directory.resolve(ProcessHandle.current().pid() + copy + SUFFIX);
                final CounterFile file = tryMake(path);
                if (file != null) {
                    return requireSameOwner(file, directory);
                }
            }
        } catch (final IOException e) {
            throw new ConfigException(
                    "counters directory " + directory + " cannot be written (" + reason(e)
                            + "): make it writable, or choose a counters file elsewhere",
                    e);
        }
        throw new ConfigException("counters directory " + directory + " holds " + TABLES_PER_PROCESS_MAX
                + " files of this process: close nodes, or choose a counters file elsewhere");
    }

    private static Path directory(final Path temporary) {
        final String user = System.getProperty("user.name", "").replaceAll("[^A-Za-z0-9._-]", "_");
        return temporary.toAbsolutePath().resolve("framecast-" + user);
    }

    /// Files that [#ofProcess] made and whose processes run, in order of process ids. Leaves all as it is.
    static List<Path> running(final Path temporary) {
        final List<Path> running = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory(temporary), "*" + SUFFIX)) {
            for (final Path file : files) {
                if (isRunning(file)) {
                    running.add(file);
                }
            }
        } catch (final IOException | DirectoryIteratorException _) {
            // Nobody made any, or they are not for us.
            return List.of();
        }
        running.sort(Comparator.comparingLong(CounterFile::pidInName).thenComparing(Path::toString));
        return running;
    }

    private static boolean isRunning(final Path file) {
        return ProcessHandle.of(pidInName(file)).isPresent();
    }

    /// -1 where the name has none.
    private static long pidInName(final Path file) {
        final String name = String.valueOf(file.getFileName());
        final String digits = name.substring(0, name.length() - SUFFIX.length()).replaceFirst("-\\d+$", "");
        return digits.matches("\\d{1,18}") ? Long.parseLong(digits) : -1;
    }

    /// Makes a file where the user wants it.
    static CounterFile at(final Path chosen) {
        final Path path = chosen.toAbsolutePath().normalize();
        try {
            if (Files.exists(path, LinkOption.NOFOLLOW_LINKS) && !removeIfStale(path)) {
                throw new ConfigException("counters file " + path
                        + " exists and is in use, or is no counters file: choose another, or delete it");
            }
            final CounterFile file = tryMake(path);
            if (file != null) {
                return file;
            }
        } catch (final IOException e) {
            throw unwritable(path, e);
        }
        throw new ConfigException("counters file " + path + " was taken by another process: choose another");
    }

    /// Fills the file, then maps it. Written, not only extended: a hole in a full file system would end the
    /// process at the first store, here it is an error that can be told.
    MemorySegment map(final Arena arena, final int capacity) {
        try {
            final ByteBuffer zeros = ByteBuffer.allocate(Math.toIntExact(CounterLayout.fileBytes(capacity)));
            while (zeros.hasRemaining()) {
                channel.write(zeros);
            }
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, CounterLayout.fileBytes(capacity), arena);
        } catch (final IOException e) {
            close();
            throw unwritable(path, e);
        }
    }

    /// Deletes the file and lets its lock go.
    @Override
    public void close() {
        try {
            Files.deleteIfExists(path);
            channel.close();
        } catch (final IOException _) {
            // What is left is stale, and goes when the next table is made.
        }
        OWN.remove(path);
    }

    /// When a process began, in milliseconds since the epoch; 0 when the system does not tell.
    static long startMs(final ProcessHandle process) {
        return process.info()
                .startInstant()
                .map(java.time.Instant::toEpochMilli)
                .orElse(0L);
    }

    private static @Nullable CounterFile tryMake(final Path path) throws IOException {
        final FileChannel channel;
        try {
            channel = FileChannel.open(
                    path, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
        } catch (final FileAlreadyExistsException _) {
            return null;
        }
        try {
            channel.tryLock();
        } catch (final IOException _) {
            // A file system without locks: the process id alone must do.
        }
        return new CounterFile(path, channel);
    }

    private static void makeDirectory(final Path directory) throws IOException {
        try {
            Files.createDirectory(
                    directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } catch (final UnsupportedOperationException _) {
            Files.createDirectories(directory);
        } catch (final FileAlreadyExistsException e) {
            if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
                throw e;
            }
        }
    }

    /// Temporary directories are everybody's: another user may have made ours first.
    private static CounterFile requireSameOwner(final CounterFile file, final Path directory) throws IOException {
        if (Files.getOwner(directory, LinkOption.NOFOLLOW_LINKS)
                .equals(Files.getOwner(file.path, LinkOption.NOFOLLOW_LINKS))) {
            return file;
        }
        file.close();
        throw new ConfigException("counters directory " + directory
                + " belongs to another user: delete it, or choose a counters file elsewhere");
    }

    private static void removeStale(final Path directory) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*" + SUFFIX)) {
            for (final Path file : files) {
                try {
                    removeIfStale(file);
                } catch (final IOException _) {
                    // Another's file, or gone meanwhile: none of our business.
                }
            }
        }
    }

    /// Deletes a counters file whose process is gone.
    ///
    /// @return whether the file is gone
    private static boolean removeIfStale(final Path path) throws IOException {
        if (OWN.contains(path) || !Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        try (FileChannel channel =
                FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
            final ByteBuffer header = ByteBuffer.allocate(CounterLayout.HEADER_BYTES);
            if (channel.read(header, 0) < CounterLayout.HEADER_BYTES) {
                return false;
            }
            final MemorySegment fields = MemorySegment.ofBuffer(header.clear());
            if (!isCounters(fields) || isAlive(fields)) {
                return false;
            }
            try (FileLock lock = channel.tryLock()) {
                return lock != null && Files.deleteIfExists(path);
            } catch (final OverlappingFileLockException _) {
                return false;
            }
        } catch (final NoSuchFileException _) {
            return true;
        }
    }

    private static boolean isCounters(final MemorySegment header) {
        return header.get(UNALIGNED_LONG, CounterLayout.MAGIC_OFFSET) == CounterLayout.MAGIC
                && header.get(UNALIGNED_LONG, CounterLayout.PID_OFFSET) > 0;
    }

    /// A process with the file's id that began when the file says. A file of our own id that is not ours was
    /// left by an earlier process, or is another container's: the lock tells.
    private static boolean isAlive(final MemorySegment header) {
        final long pid = header.get(UNALIGNED_LONG, CounterLayout.PID_OFFSET);
        if (pid == ProcessHandle.current().pid()) {
            return false;
        }
        final long startMs = header.get(UNALIGNED_LONG, CounterLayout.PROCESS_START_OFFSET);
        return ProcessHandle.of(pid)
                .map(process -> startMs == 0 || startMs(process) == 0 || startMs(process) == startMs)
                .orElse(false);
    }

    private static ConfigException unwritable(final Path path, final IOException e) {
        return new ConfigException(
                "counters file " + path + " cannot be written (" + reason(e)
                        + "): free or allow what is missing, or choose another",
                e);
    }

    private static String reason(final IOException e) {
        return e instanceof NoSuchFileException ? "no such directory" : String.valueOf(e.getMessage());
    }
}
