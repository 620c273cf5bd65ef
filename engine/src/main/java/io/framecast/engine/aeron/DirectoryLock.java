package io.framecast.engine.aeron;

import io.framecast.api.error.TransportException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.agrona.CloseHelper;
import org.jspecify.annotations.Nullable;

/// Decides which process runs the media driver of a shared directory: a lock on the file `lock` in it, which the system
/// frees when that process ends.
final class DirectoryLock implements AutoCloseable {
    static final String LOCK = "lock";

    private final FileChannel channel;

    private DirectoryLock(final FileChannel channel) {
        this.channel = channel;
    }

    /// Null where another process holds it.
    static @Nullable DirectoryLock tryLock(final Path directory) {
        final Path file = directory.resolve(LOCK);
        @Nullable FileChannel channel = null;
        try {
            channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            if (channel.tryLock() != null) {
                return new DirectoryLock(channel);
            }
            channel.close();
            return null;
        } catch (final IOException | OverlappingFileLockException e) {
            throw new TransportException(
                    "ipc: no lock file " + file + " (" + e.getMessage() + "); make its directory writable", e);
        }
    }

    @Override
    public void close() {
        // The empty file stays. A deletion, before or after the lock is freed, could leave one process with a lock on
        // the deleted file while another locks a new one. At the latest, the lock is freed with the process.
        CloseHelper.quietClose(channel);
    }
}
