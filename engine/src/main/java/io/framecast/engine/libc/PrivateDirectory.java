package io.framecast.engine.libc;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Directories that are this process's user's alone, below parents where other users may make some too, such as
/// `/tmp` and `/dev/shm`. Links are never followed.
///
/// Stateless; any thread.
public final class PrivateDirectory {
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rwx------");
    private static final Set<PosixFilePermission> WRITTEN_BY_OTHERS = PosixFilePermissions.fromString("----w--w-");

    private PrivateDirectory() {}

    /// The mode 0700, for a directory that is made.
    public static FileAttribute<Set<PosixFilePermission>> ownerOnly() {
        return PosixFilePermissions.asFileAttribute(OWNER_ONLY);
    }

    /// Makes a directory of mode 0700 where there is none.
    ///
    /// @return the directory
    /// @throws IOException with a message for an operator, where it cannot be made or is not this user's alone
    public static Path require(final Path directory) throws IOException {
        try {
            return Files.createDirectory(directory, ownerOnly());
        } catch (final FileAlreadyExistsException e) {
            if (is(directory)) {
                return directory;
            }
            throw new IOException(directory + " is not a directory of this user with mode 0700", e);
        }
    }

    /// Why something could not be done with a file, as the end of a sentence: some of the JDK's exceptions name
    /// the file alone.
    public static String reason(final IOException e) {
        return switch (e) {
            case NoSuchFileException _ -> "no such file or directory";
            case AccessDeniedException _ -> "permission denied";
            case NotDirectoryException _ -> "not a directory";
            case FileSystemException failed when failed.getReason() != null -> failed.getReason();
            default -> String.valueOf(e.getMessage());
        };
    }

    /// Whether it is a directory of this user with mode 0700.
    public static boolean is(final Path directory) {
        final Set<PosixFilePermission> permissions = permissions(directory);
        return permissions != null
                && permissions.equals(OWNER_ONLY)
                && owner(directory, LinkOption.NOFOLLOW_LINKS) == Libc.getuid();
    }

    /// Whether it is a directory into which only this user writes, or only root.
    public static boolean isOwn(final Path directory) {
        final Set<PosixFilePermission> permissions = permissions(directory);
        final long owner = owner(directory, LinkOption.NOFOLLOW_LINKS);
        return permissions != null
                && permissions.stream().noneMatch(WRITTEN_BY_OTHERS::contains)
                && (owner == Libc.getuid() || owner == 0);
    }

    // Null where it is no directory.
    private static @Nullable Set<PosixFilePermission> permissions(final Path directory) {
        try {
            return Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)
                    ? Files.getPosixFilePermissions(directory, LinkOption.NOFOLLOW_LINKS)
                    : null;
        } catch (final IOException _) {
            return null;
        }
    }

    /// The user whose file or directory it is; −1 where that cannot be read.
    public static long owner(final Path path, final LinkOption... links) {
        try {
            return ((Number) Files.getAttribute(path, "unix:uid", links)).longValue();
        } catch (final IOException _) {
            return -1;
        }
    }

    /// Deletes a directory and all that lies in it, as far as that goes.
    public static void delete(final Path directory) {
        try {
            Files.walkFileTree(directory, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(final Path file, final BasicFileAttributes attributes) {
                    return deleteOne(file);
                }

                @Override
                public FileVisitResult visitFileFailed(final Path file, final IOException e) {
                    return deleteOne(file);
                }

                @Override
                public FileVisitResult postVisitDirectory(final Path visited, final @Nullable IOException e) {
                    return deleteOne(visited);
                }
            });
        } catch (final IOException _) {
            // The rest is swept later, or lies in memory until the system starts again.
        }
    }

    private static FileVisitResult deleteOne(final Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (final IOException _) {
            // Another one deletes here too, or it is not empty.
        }
        return FileVisitResult.CONTINUE;
    }
}
