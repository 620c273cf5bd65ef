package io.framecast.engine.metrics;

import io.framecast.api.error.ConfigException;
import io.framecast.engine.libc.ByteLocks;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.PrivateDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The file under a [CounterTable]: where it lies, which process owns it, and when it is stale and may be
/// deleted.
///
/// A file is stale when its process is gone *and* no process holds its lock. A check of the process alone does
/// not do: containers that share a temporary directory do not see each other's processes. The lock alone does
/// not do either: not every file system has locks. It is one of the open file where there are such: the system
/// frees one of the process when any reader in the same process closes the file.
final class CounterFile implements AutoCloseable {
    private static final String SUFFIX = ".counters";
    private static final Pattern NAME = Pattern.compile("(\\d{1,18})(-\\d+)?\\.counters");
    private static final int TABLES_PER_PROCESS_MAX = 64;

    /// Opening and closing one of our own files may drop its lock.
    private static final Set<Path> OWN = ConcurrentHashMap.newKeySet();

    private final Path path;
    private final FileChannel channel;
    // Holds the lock; negative where the channel does.
    private final int lock;

    private CounterFile(final Path path, final FileChannel channel, final int lock) {
        this.path = path;
        this.channel = channel;
        this.lock = lock;
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
            PrivateDirectory.require(directory);
            removeStale(directory);
            for (int n = 1; n <= TABLES_PER_PROCESS_MAX; n++) {
                final String copy = n == 1 ? "" : "-" + n;
                final Path path = directory.resolve(ProcessHandle.current().pid() + copy + SUFFIX);
                final CounterFile file = tryMake(path);
                if (file != null) {
                    return file;
                }
            }
        } catch (final IOException e) {
            throw new ConfigException(
                    "counters directory " + directory + " cannot be used (" + reason(e)
                            + "): have it deleted or made writable, or choose a counters file elsewhere",
                    e);
        }
        throw new ConfigException("counters directory " + directory + " holds " + TABLES_PER_PROCESS_MAX
                + " files of this process: close nodes, or choose a counters file elsewhere");
    }

    private static Path directory(final Path temporary) {
        final String user = System.getProperty("user.name", "").replaceAll("[^A-Za-z0-9._-]", "_");
        return temporary.toAbsolutePath().resolve("framecast-" + user);
    }

    /// Files that [#ofProcess] made and whose processes run, in order of process ids. Deletes none.
    static List<Path> running(final Path temporary) {
        if (!PrivateDirectory.is(directory(temporary))) {
            // No process made any, or another user made them.
            return List.of();
        }
        try (Stream<Path> files = Files.list(directory(temporary))) {
            return files.filter(CounterFile::isRunning)
                    .sorted(Comparator.comparingLong(CounterFile::pidInName).thenComparing(Path::toString))
                    .toList();
        } catch (final IOException | UncheckedIOException _) {
            // It was deleted meanwhile.
            return List.of();
        }
    }

    // By the process of this PID namespace, or by the lock of one in another: both may have the same id.
    private static boolean isRunning(final Path file) {
        if (pidInName(file) < 0 || !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        if (OWN.contains(file)) {
            return true;
        }
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
            final ByteBuffer header =
                    ByteBuffer.allocate(CounterLayout.HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            if (channel.read(header, 0) < CounterLayout.HEADER_BYTES || !isCounters(header)) {
                return false;
            }
            return isAlive(header) || isLocked(channel);
        } catch (final IOException _) {
            // It is gone, or another user's.
            return false;
        }
    }

    private static boolean isLocked(final FileChannel channel) throws IOException {
        try (FileLock lock = channel.tryLock()) {
            return lock == null;
        } catch (final OverlappingFileLockException _) {
            return true;
        }
    }

    /// Files that this process made and has not closed, in order of their paths.
    static List<Path> own() {
        return OWN.stream().sorted().toList();
    }

    /// -1 where the name has none.
    private static long pidInName(final Path file) {
        final Matcher name = NAME.matcher(String.valueOf(file.getFileName()));
        return name.matches() ? Long.parseLong(name.group(1)) : -1;
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

    /// Fills the file, then maps it. A file that was only extended has holes, and a store into a hole of a full
    /// file system kills the process; here a full file system is an error.
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
            // The file is stale now: the next table of any process deletes it.
        }
        if (lock >= 0) {
            Libc.close(lock);
        }
        OWN.remove(path);
    }

    /// When a process began, in milliseconds since the epoch; 0 when the system does not report it.
    static long startMs(final ProcessHandle process) {
        return process.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
    }

    private static @Nullable CounterFile tryMake(final Path path) throws IOException {
        final FileChannel channel;
        try {
            channel = FileChannel.open(
                    path,
                    Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        } catch (final FileAlreadyExistsException _) {
            return null;
        }
        final int lock = lock(path);
        if (lock < 0) {
            try {
                channel.tryLock();
            } catch (final IOException _) {
                // On a file system without locks the process id alone must do.
            }
        }
        return new CounterFile(path, channel, lock);
    }

    // A descriptor whose open file has locked the file's first byte; -1 where that cannot be.
    private static int lock(final Path path) {
        if (!Linux.isPresent()) {
            return -1;
        }
        try (Arena scratch = Arena.ofConfined()) {
            final int opened = Libc.open(scratch.allocateFrom(path.toString()), Linux.O_RDWR | Linux.O_CLOEXEC);
            if (opened >= 0 && !ByteLocks.lock(opened, 0)) {
                Libc.close(opened);
                return -1;
            }
            return opened;
        }
    }

    private static void removeStale(final Path directory) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*" + SUFFIX)) {
            for (final Path file : files) {
                try {
                    removeIfStale(file);
                } catch (final IOException _) {
                    // The file belongs to another user, or is gone meanwhile.
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
            final ByteBuffer header =
                    ByteBuffer.allocate(CounterLayout.HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            if (channel.read(header, 0) < CounterLayout.HEADER_BYTES) {
                return false;
            }
            if (!isCounters(header) || isAlive(header)) {
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

    private static boolean isCounters(final ByteBuffer header) {
        return header.getLong(CounterLayout.MAGIC_OFFSET) == CounterLayout.MAGIC
                && header.getLong(CounterLayout.PID_OFFSET) > 0;
    }

    /// Whether a process with the file's id runs that began at the file's time. A file may carry this process's id
    /// without being its own. It then comes from an earlier process, or from another container whose process still
    /// holds the lock.
    private static boolean isAlive(final ByteBuffer header) {
        final long pid = header.getLong(CounterLayout.PID_OFFSET);
        if (pid == ProcessHandle.current().pid()) {
            return false;
        }
        final long startMs = header.getLong(CounterLayout.PROCESS_START_OFFSET);
        return ProcessHandle.of(pid)
                .map(process -> startMs == 0 || startMs(process) == 0 || startMs(process) == startMs)
                .orElse(false);
    }

    private static ConfigException unwritable(final Path path, final IOException e) {
        return new ConfigException(
                "counters file " + path + " cannot be written (" + reason(e)
                        + "): make room or give permission there, or choose another",
                e);
    }

    private static String reason(final IOException e) {
        return e instanceof NoSuchFileException ? "no such directory" : String.valueOf(e.getMessage());
    }
}
