package io.framecast.engine.hostgroup;

import io.framecast.api.Channel;
import io.framecast.api.Delivery;
import io.framecast.api.SourceOptions;
import io.framecast.api.error.TransportException;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.ready.Wakeup;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The host groups of this user: which of them a subscriber belongs to, and whether it leads.
public final class HostGroups {
    private static final int NAME_BYTES = 8;
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rwx------");

    /// What a subscriber becomes.
    ///
    /// @param leader null for one that follows alone
    /// @param connection to the group's leader
    record Role(@Nullable GroupLeader leader, UnixSocket connection) {}

    private HostGroups() {}

    /// Whether a subscriber of this channel shares what it receives: it asked for that, and gets every frame of one
    /// source.
    public static boolean isWanted(final Channel channel) {
        return !channel.stream().sources().hostGroup().equals(SourceOptions.NO_HOST_GROUP)
                && Linux.isPresent()
                && channel instanceof Channel.Multicast
                && channel.stream().delivery().equals(Delivery.RELIABLE)
                && channel.stream().sources().joinAt() == SourceOptions.JoinAt.FRAME
                && channel.stream().sources().count() == 1;
    }

    /// Joins the channel's group: as a follower where somebody leads, else as its leader.
    ///
    /// @throws TransportException when the group's directory is not this user's own
    static Role enter(final Channel channel, final Wakeup receiver, final Consumer<String> notices) {
        // A lock of a file belongs to the process: threads of one process need one of their own.
        synchronized (HostGroups.class) {
            final Path directory = directory();
            final String name = name(channel);
            final Path path = directory.resolve(name + ".sock");
            try (FileChannel file = FileChannel.open(
                            directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock _ = file.lock()) {
                final UnixSocket connection = UnixSocket.connect(path);
                if (connection != null) {
                    return new Role(null, connection);
                }
                // Of a leader that was killed.
                Files.deleteIfExists(path);
                return lead(path, receiver, notices);
            } catch (final IOException e) {
                throw new TransportException("host group: " + e.getMessage() + "; is " + directory
                        + " yours and writable? host-group=off does without");
            }
        }
    }

    private static Role lead(final Path path, final Wakeup receiver, final Consumer<String> notices) {
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            final UnixSocket listener = opened.add(UnixSocket.listen(path));
            final UnixSocket own = UnixSocket.connect(path);
            if (own == null) {
                throw new TransportException("host group: cannot connect to " + path);
            }
            opened.add(own);
            final Role role = new Role(new GroupLeader(path, listener, receiver, notices), own);
            opened.keep();
            return role;
        }
    }

    // Same user, network namespace, transport, interface and channel.
    private static String name(final Channel channel) {
        final String described = channel.stream().sources().hostGroup()
                + '|'
                + namespace()
                + '|'
                + channel.transport()
                + '|'
                + channel.name()
                + '|'
                + channel.link().networkInterface()
                + '|'
                + (channel instanceof Channel.Multicast multicast ? multicast.group() : "")
                // What the leader's membership must be alike in.
                + '|'
                + channel.stream().framesHeld()
                + '|'
                + channel.stream().ringBytes()
                + '|'
                + channel.stream().rejoinMs();
        try {
            final byte[] hash = MessageDigest.getInstance("SHA-256").digest(described.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash, 0, NAME_BYTES);
        } catch (final NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String namespace() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/ns/net")).toString();
        } catch (final IOException e) {
            return "";
        }
    }

    // The user's runtime directory, else one in /tmp that nobody else can have made.
    private static Path directory() {
        final String runtime = System.getenv("XDG_RUNTIME_DIR");
        final Path directory = runtime == null || runtime.isEmpty()
                ? Path.of("/tmp/framecast-" + Libc.getuid())
                : Path.of(runtime, "framecast");
        try {
            if (!Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
                Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
            }
            final Object owner = Files.getAttribute(directory, "unix:uid", LinkOption.NOFOLLOW_LINKS);
            if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)
                    || ((Number) owner).longValue() != Libc.getuid()
                    || !Files.getPosixFilePermissions(directory, LinkOption.NOFOLLOW_LINKS)
                            .equals(OWNER_ONLY)) {
                throw new TransportException("host group: " + directory
                        + " is not a directory of this user with mode 0700;" + " remove it, or set XDG_RUNTIME_DIR");
            }
            return directory;
        } catch (final IOException e) {
            throw new TransportException("host group: cannot use " + directory + ": " + e.getMessage()
                    + "; set XDG_RUNTIME_DIR to a directory of yours");
        }
    }
}
