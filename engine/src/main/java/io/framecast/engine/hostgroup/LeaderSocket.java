package io.framecast.engine.hostgroup;

import io.framecast.api.error.TransportException;
import io.framecast.engine.libc.Elsewhere;
import io.framecast.engine.libc.UnixSocket;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The socket at which a host group's leader listens, and its file. A cleaner of temporary files may remove the file.
///
/// Threading: the leader's thread listens, makes it again and closes it; any thread removes the file.
final class LeaderSocket {
    private final Path path;
    private final Consumer<String> notices;
    // Both change where the file was removed and this leader listens again.
    private UnixSocket listener;
    private volatile long inode;
    // True when a notice has said that the file is gone and cannot be made.
    private boolean removalReported;
    private boolean left;

    /// @param listener at the path, this object's from now on
    LeaderSocket(final Path path, final UnixSocket listener, final Consumer<String> notices) {
        this.path = path;
        this.listener = listener;
        this.notices = notices;
        inode = UnixSocket.inode(path);
    }

    Path path() {
        return path;
    }

    int descriptor() {
        return listener.descriptor();
    }

    /// A process that comes; null where none does, or descriptors are short.
    @Nullable
    UnixSocket accept() {
        return listener.accept();
    }

    /// Of the file that this leader made; 0 where there was none.
    long inode() {
        return inode;
    }

    /// Of the file that is at the path now; 0 for none.
    long presentInode() {
        return UnixSocket.inode(path);
    }

    /// Listens again where the file was removed: no member that comes would find this leader.
    void listenAgain() {
        try {
            HostGroups.locked(path, this::makeAgain);
        } catch (final TransportException e) {
            if (!removalReported) {
                removalReported = true;
                notices.accept("host group: " + path + " was removed: new members do not find this process; "
                        + e.getMessage());
            }
        }
    }

    private synchronized void makeAgain() {
        if (!left && presentInode() == 0) {
            final UnixSocket made = UnixSocket.listen(path);
            listener.close();
            listener = made;
            inode = presentInode();
            removalReported = false;
            notices.accept("host group: " + path + " was removed, and is made again; keep cleaners of"
                    + " temporary files away from its directory");
        }
    }

    /// Removes the file, unless it is another leader's by now.
    synchronized void leave() {
        left = true;
        if (inode == presentInode()) {
            try {
                Elsewhere.forget(path);
                Files.deleteIfExists(path);
            } catch (final IOException e) {
                notices.accept("host group: cannot remove " + path + ": " + e.getMessage());
            }
        }
    }

    /// The leader has ended.
    void close() {
        listener.close();
    }
}
