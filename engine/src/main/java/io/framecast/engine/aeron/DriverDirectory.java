package io.framecast.engine.aeron;

import io.framecast.api.error.TransportException;
import io.framecast.engine.libc.PrivateDirectory;
import io.framecast.engine.memory.RollbackOnFailure;
import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.agrona.SystemUtil;
import org.jspecify.annotations.Nullable;

/// A media driver's own directory, `framecast-aeron-<pid>-<nonce>`, in shared memory where there is room, else
/// in java.io.tmpdir. Its owner holds a lock on a file in it: when the owner is gone, for any reason, the next
/// process can take the lock and clears up. (Process numbers would mislead: containers share /dev/shm but
/// not process numbers.) Deleted at close, and by a shutdown hook where close was not reached. Other users read
/// none of it, and their directories of such a name are left alone.
final class DriverDirectory implements AutoCloseable {
    private static final String PREFIX = "framecast-aeron-";
    /// A directory has this ending until it is locked.
    private static final String UNFINISHED = ".new";

    private static final String LOCK = "lock";
    private static final String DRIVER = "driver";
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");

    /// Three terms for each end of each lane, with room to spare. Containers have 64 MB by default: too little.
    private static final long ROOM_BYTES_MIN = 256L << 20;

    // This process's own sweeps skip these. POSIX frees a process's lock on a file as soon as the process closes
    // any descriptor of that file. Another process would then take a live directory for abandoned.
    private static final Set<Path> OWN = ConcurrentHashMap.newKeySet();

    private final Path path;
    private final FileChannel lock;
    private final Thread shutdownHook;

    private DriverDirectory(final Path path, final FileChannel lock) {
        this.path = path;
        this.lock = lock;
        shutdownHook = new Thread(() -> PrivateDirectory.delete(path), "framecast-aeron-clear-up");
        Runtime.getRuntime().addShutdownHook(shutdownHook);
    }

    static DriverDirectory create() {
        final Path parent = hasRoom(SHARED_MEMORY) ? SHARED_MEMORY : Path.of(SystemUtil.tmpDirName());
        sweep(parent);
        return create(parent);
    }

    static DriverDirectory create(final Path parent) {
        final String name = PREFIX + ProcessHandle.current().pid() + "-"
                + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
        final Path unfinished = parent.resolve(name + UNFINISHED);
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            Files.createDirectory(unfinished, PrivateDirectory.ownerOnly());
            opened.add(() -> PrivateDirectory.delete(unfinished));
            final FileChannel lock = opened.add(FileChannel.open(
                    unfinished.resolve(LOCK), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
            lock.lock();
            OWN.add(parent.resolve(name).toAbsolutePath());
            final DriverDirectory made = new DriverDirectory(Files.move(unfinished, parent.resolve(name)), lock);
            opened.keep();
            return made;
        } catch (final IOException e) {
            throw new TransportException(
                    "aeron: no directory in " + parent + " (" + e.getMessage()
                            + "); free space there, or make it writable",
                    e);
        }
    }

    /// Deletes the directories that dead processes left in `parent`.
    static void sweep(final Path parent) {
        try (DirectoryStream<Path> left = Files.newDirectoryStream(parent, PREFIX + "*")) {
            for (final Path directory : left) {
                if (!directory.getFileName().toString().endsWith(UNFINISHED)
                        && !OWN.contains(directory.toAbsolutePath())
                        && PrivateDirectory.is(directory)
                        && isAbandoned(directory)) {
                    PrivateDirectory.delete(directory);
                }
            }
        } catch (final IOException e) {
            // Clearing up for other processes is a courtesy: a failure must not keep this one from starting.
            return;
        }
    }

    private static boolean isAbandoned(final Path directory) {
        if (!Files.isRegularFile(directory.resolve(LOCK), LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        try (FileChannel channel = FileChannel.open(directory.resolve(LOCK), StandardOpenOption.WRITE);
                @Nullable FileLock lock = channel.tryLock()) {
            return lock != null;
        } catch (final IOException | OverlappingFileLockException e) {
            return false;
        }
    }

    private static boolean hasRoom(final Path parent) {
        final File file = parent.toFile();
        return file.isDirectory() && file.canWrite() && file.getUsableSpace() >= ROOM_BYTES_MIN;
    }

    /// The directory that the driver itself makes and uses.
    Path driver() {
        return path.resolve(DRIVER);
    }

    Path path() {
        return path;
    }

    /// Shared memory, or the directory that takes its place.
    Path parent() {
        return path.resolveSibling("");
    }

    @Override
    public void close() {
        PrivateDirectory.delete(path);
        OWN.remove(path.toAbsolutePath());
        try {
            lock.close();
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
        } catch (final IOException | IllegalStateException e) {
            // A closing JVM runs the hook itself, and closes the file.
            return;
        }
    }
}
