package io.framecast.engine.libc;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Sockets of the same name in other directories: of processes that have another `XDG_RUNTIME_DIR`, or none,
/// and do not find each other. There is one place that all processes of a user know, the directory without that
/// variable: a process that listens elsewhere leaves a link there, with the name of its socket and another
/// ending.
///
/// The links serve a line for an operator alone. No process follows a leader by one: after a takeover the
/// members would look for the successor in different directories.
public final class Elsewhere {
    private static final String SOCKET = ".sock";
    private static final String LINK = ".elsewhere";

    private Elsewhere() {}

    /// The directory of a process without `XDG_RUNTIME_DIR`.
    public static Path common() {
        return Path.of("/tmp/framecast-" + Libc.getuid());
    }

    private static Path link(final Path socket, final Path common) {
        final String name = socket.getFileName().toString();
        return common.resolve(name.substring(0, name.length() - SOCKET.length()) + LINK);
    }

    /// A process listens at a path from now on.
    public static void note(final Path socket) {
        note(socket, common());
    }

    public static void note(final Path socket, final Path common) {
        if (common.equals(socket.getParent())) {
            return;
        }
        try {
            PrivateDirectory.require(common);
            sweep(common);
            final Path link = link(socket, common);
            Files.deleteIfExists(link);
            Files.createSymbolicLink(link, socket.toAbsolutePath());
        } catch (final IOException | DirectoryIteratorException _) {
            // Without the link a line is missing, no more.
        }
    }

    // Of processes that were killed, and whose sockets are gone.
    private static void sweep(final Path common) throws IOException {
        try (DirectoryStream<Path> links = Files.newDirectoryStream(common, '*' + LINK)) {
            for (final Path link : links) {
                if (!Files.exists(link)) {
                    Files.deleteIfExists(link);
                }
            }
        }
    }

    /// The process listens there no more, and has removed the socket.
    public static void forget(final Path socket) {
        forget(socket, common());
    }

    public static void forget(final Path socket, final Path common) {
        final Path link = link(socket, common);
        try {
            if (socket.toAbsolutePath().equals(target(link, common))) {
                Files.deleteIfExists(link);
            }
        } catch (final IOException _) {
            // The next process that leaves a link removes it.
        }
    }

    /// Another socket of the name at which a process listens.
    ///
    /// @param socket as this process looks for it
    /// @return null for none
    public static @Nullable Path find(final Path socket) {
        return find(socket, common());
    }

    public static @Nullable Path find(final Path socket, final Path common) {
        if (!PrivateDirectory.is(common)) {
            return null;
        }
        final Path there = common.resolve(socket.getFileName());
        if (!there.equals(socket) && UnixSocket.isListening(there)) {
            return there;
        }
        final Path linked = target(link(socket, common), common);
        return linked != null && !linked.equals(socket.toAbsolutePath()) && UnixSocket.isListening(linked)
                ? linked
                : null;
    }

    private static @Nullable Path target(final Path link, final Path common) {
        try {
            return common.resolve(Files.readSymbolicLink(link));
        } catch (final IOException | UnsupportedOperationException e) {
            return null;
        }
    }
}
