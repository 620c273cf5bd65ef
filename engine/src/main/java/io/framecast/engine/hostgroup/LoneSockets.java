package io.framecast.engine.hostgroup;

import io.framecast.engine.libc.ByteLocks;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.UnixSocket;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The sockets of groups of one, which no other process looks for. Each is named after its process's own
/// number: random, and as long as the process lives it holds the lock on that byte of a file. Its PID would not
/// do: several containers have a process 1.
final class LoneSockets {
    private static final Pattern NAME = Pattern.compile("alone-([0-7][0-9a-f]{7})-\\d+\\.sock");
    private static final String LOCKS = "alone";
    private static final AtomicLong COUNT = new AtomicLong();

    // Under the lock of this class. The descriptor stays open until the process ends, or the file is another one.
    private static int locks = -1;
    private static @Nullable Path path;
    private static long inode;
    private static int number;

    private LoneSockets() {}

    /// A path for one more socket of this process.
    static Path next(final Path directory) {
        final String name = "alone-" + HexFormat.of().toHexDigits(ownNumber(directory)) + '-' + COUNT.incrementAndGet();
        return directory.resolve(name + ".sock");
    }

    private static synchronized int ownNumber(final Path directory) {
        final Path file = directory.resolve(LOCKS);
        if (locks < 0 || !file.equals(path) || UnixSocket.inode(file) != inode) {
            final int opened = DeviceUse.open(file);
            int drawn;
            do {
                drawn = ThreadLocalRandom.current().nextInt(Integer.MAX_VALUE);
            } while (!ByteLocks.lock(opened, drawn));
            if (locks >= 0) {
                Libc.close(locks);
            }
            locks = opened;
            path = file;
            inode = UnixSocket.inode(file);
            number = drawn;
        }
        return number;
    }

    /// Removes the sockets of processes that were killed. The socket of another group is removed by the next
    /// process that leads it.
    static void sweep(final Path directory) throws IOException {
        try (DirectoryStream<Path> sockets = Files.newDirectoryStream(directory, "alone-*.sock")) {
            for (final Path socket : sockets) {
                final Matcher name = NAME.matcher(socket.getFileName().toString());
                if (name.matches()
                        && !lives(directory, Integer.parseInt(name.group(1), 16))
                        && !UnixSocket.isListening(socket)) {
                    Files.deleteIfExists(socket);
                }
            }
        }
    }

    private static boolean lives(final Path directory, final int process) {
        final int file = DeviceUse.open(directory.resolve(LOCKS));
        final boolean lives = ByteLocks.isLocked(file, process);
        Libc.close(file);
        return lives;
    }
}
