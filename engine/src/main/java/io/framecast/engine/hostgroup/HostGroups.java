package io.framecast.engine.hostgroup;

import io.framecast.api.Channel;
import io.framecast.api.Delivery;
import io.framecast.api.SourceOptions;
import io.framecast.api.error.TransportException;
import io.framecast.engine.libc.Elsewhere;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.PrivateDirectory;
import io.framecast.engine.libc.UnixSocket;
import io.framecast.engine.memory.MirroredMemory;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.ready.Wakeup;
import io.framecast.reliability.succession.SuccessionConfig;
import io.framecast.reliability.succession.SuccessionMachine.Entry;
import io.framecast.reliability.succession.SuccessionMachine.Found;
import io.framecast.reliability.wire.StreamInfo;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The host groups of this user: which of them a subscriber belongs to, and whether it leads.
public final class HostGroups {
    private static final int NAME_BYTES = 8;
    private static final long NS_PER_MS = 1_000_000;

    /// Decides what a subscriber does that enters its group, while no other process enters.
    interface Election {
        /// @param leader file of the socket of the leader that was found; 0 for none
        Entry choose(Found found, long leader);
    }

    /// The role of a subscriber.
    ///
    /// @param leader null for one that follows alone
    /// @param connection to the group's leader
    /// @param local whether that is the publisher itself
    record Role(@Nullable GroupLeader leader, UnixSocket connection, boolean local) {}

    private HostGroups() {}

    /// The times of succession among subscribers of a channel.
    static SuccessionConfig succession(final Channel channel) {
        return new SuccessionConfig(
                channel.stream().sources().attachAfterMs() * NS_PER_MS,
                channel.stream().rejoinMs() * NS_PER_MS);
    }

    private static long beatNs(final Channel channel) {
        return succession(channel).beatNs();
    }

    /// True when a subscriber of this channel shares its frames: it asked for that, follows one source from its
    /// next frame on, and is not to be evicted.
    public static boolean isWanted(final Channel channel) {
        return !channel.stream().sources().hostGroup().equals(SourceOptions.NO_HOST_GROUP)
                && Linux.isPresent()
                && channel instanceof Channel.Multicast
                && !(channel.stream().delivery() instanceof Delivery.Evict)
                && channel.stream().sources().joinAt() == SourceOptions.JoinAt.FRAME
                && channel.stream().sources().count() == 1;
    }

    /// True when a publisher of this channel lets subscribers of its host read its window: the channel asks for
    /// it.
    public static boolean isWantedBySource(final Channel channel) {
        return !channel.stream().sources().hostGroup().equals(SourceOptions.NO_HOST_GROUP)
                && Linux.isPresent()
                && channel instanceof Channel.Multicast;
    }

    /// Lets subscribers of this host read a publisher's window.
    ///
    /// @param keyTag of its shared key, as `AuthKeys` has it; empty where it has none
    /// @param window mapped twice, with a descriptor
    /// @param sender wakes the thread that frees released frames
    /// @return empty where another publisher of the channel shares its window on this host, which a notice
    ///     reports
    public static Optional<LocalReaders> share(
            final Channel channel,
            final String keyTag,
            final StreamInfo stream,
            final MirroredMemory window,
            final long windowBytes,
            final Wakeup sender,
            final Consumer<String> notices) {
        synchronized (HostGroups.class) {
            final Path directory = directory();
            final Path path = sourcePath(directory, channel, keyTag);
            try (FileChannel file = FileChannel.open(
                            directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock _ = file.lock();
                    RollbackOnFailure opened = new RollbackOnFailure()) {
                if (UnixSocket.isListening(path)) {
                    notices.accept("host group: another publisher of " + channel.name()
                            + " shares its window on this host; subscribers get this one's frames by datagrams");
                    return Optional.empty();
                }
                Files.deleteIfExists(path);
                final UnixSocket listener = opened.add(UnixSocket.listen(path));
                Elsewhere.note(path);
                final GroupLeader leader = new GroupLeader(path, null, listener, sender, beatNs(channel), notices);
                opened.keep();
                opened.add(leader);
                final LocalReaders made = leader.shareWindow(stream, window, windowBytes);
                opened.keep();
                return Optional.of(made);
            } catch (final IOException e) {
                throw unusable(directory, e);
            }
        }
    }

    /// Runs an action while no other process enters a group in a socket's directory, which is made where it is
    /// missing.
    ///
    /// @throws TransportException where that directory cannot be used
    static void locked(final Path socket, final Runnable action) {
        synchronized (HostGroups.class) {
            final Path directory = require(Objects.requireNonNull(socket.getParent()));
            try (FileChannel file = FileChannel.open(
                            directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock _ = file.lock()) {
                action.run();
            } catch (final IOException e) {
                throw unusable(directory, e);
            }
        }
    }

    /// Reports a process that listens at a socket of the same name in another directory.
    ///
    /// @return whether there is one
    static boolean lookElsewhere(final Path socket, final String role, final Consumer<String> notices) {
        final Path other = Elsewhere.find(socket);
        if (other == null) {
            return false;
        }
        notices.accept("host group: another process of this host " + role + " at " + other + ", and this one looks in "
                + socket.getParent() + ": they share no frame, and the stream comes to this host more than once; give"
                + " both the same XDG_RUNTIME_DIR, or none");
        return true;
    }

    private static TransportException unusable(final Path directory, final IOException e) {
        return new TransportException("host group: cannot use " + directory + ": " + PrivateDirectory.reason(e)
                + "; make it writable, or set XDG_RUNTIME_DIR to a directory of yours; host-group=off does without");
    }

    /// The socket at which clients of this host ask to publish on a channel.
    ///
    /// @param keyTag as in [#share]
    public static Path clientsPath(final Channel channel, final String keyTag) {
        return path(directory(), "publish", channel, keyTag);
    }

    /// Listens at a path of [#clientsPath].
    ///
    /// @throws TransportException where another process does
    public static UnixSocket listenForClients(final Path path) {
        synchronized (HostGroups.class) {
            final Path directory = require(Objects.requireNonNull(path.getParent()));
            try (FileChannel file = FileChannel.open(
                            directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock _ = file.lock()) {
                if (UnixSocket.isListening(path)) {
                    throw new TransportException("another process of this host publishes for clients of this channel:"
                            + " end it, or use another channel");
                }
                Files.deleteIfExists(path);
                final UnixSocket made = UnixSocket.listen(path);
                Elsewhere.note(path);
                return made;
            } catch (final IOException e) {
                throw unusable(directory, e);
            }
        }
    }

    /// Removes the socket of a listener, unless another one is at its path.
    public static void removeListener(final Path path, final long inode) {
        try {
            if (inode == UnixSocket.inode(path)) {
                Elsewhere.forget(path);
                Files.deleteIfExists(path);
            }
        } catch (final IOException e) {
            // The next that listens there removes it.
        }
    }

    // Known to publisher and subscribers. Their interfaces and groups may differ.
    static Path sourcePath(final Path directory, final Channel channel, final String keyTag) {
        return path(directory, "source", channel, keyTag);
    }

    private static Path path(final Path directory, final String role, final Channel channel, final String keyTag) {
        final String described = role + '|' + namespace() + '|' + address(channel);
        return directory.resolve(hash(keyTag.isEmpty() ? described : described + "|key " + keyTag) + ".sock");
    }

    /// Enters the channel's group.
    ///
    /// @param keyTag of its shared key; empty where it has none
    /// @param part of the host that the group is for; empty for all of it
    /// @param still file of the socket of a leader that stands still, and leads no more; 0 for none
    /// @param newcomer whether it has followed no leader yet: it removes sockets that processes left
    /// @param election chooses by the finding there
    /// @return null where it is to wait
    /// @throws TransportException when the group's directory is not this user's own
    static @Nullable Role enter(
            final Channel channel,
            final String keyTag,
            final String part,
            final long still,
            final boolean newcomer,
            final Election election,
            final Wakeup receiver,
            final Consumer<String> notices) {
        // A lock of a file belongs to the process: threads of one process need one of their own.
        synchronized (HostGroups.class) {
            final Path directory = directory();
            final Path path = directory.resolve(name(channel, part, keyTag) + ".sock");
            final Path source = sourcePath(directory, channel, keyTag);
            final UnixSocket publisher = Files.exists(source) ? UnixSocket.connect(source) : null;
            if (publisher != null) {
                if (election.choose(Found.PUBLISHER, publisher.inode()) == Entry.FOLLOW) {
                    return new Role(null, publisher, true);
                }
                publisher.close();
                return apart(channel, receiver, notices);
            }
            try (FileChannel file = FileChannel.open(
                            directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock _ = file.lock()) {
                if (newcomer) {
                    LoneSockets.sweep(directory);
                }
                final UnixSocket connection = UnixSocket.connect(path);
                final long leader = connection == null ? 0 : connection.inode();
                final Entry entry = election.choose(find(path, connection, still), leader);
                if (connection != null && entry == Entry.FOLLOW) {
                    return new Role(null, connection, false);
                }
                if (connection != null) {
                    connection.close();
                }
                return switch (entry) {
                    case WAIT -> null;
                    case APART -> apart(channel, receiver, notices);
                    case LEAD, FOLLOW -> {
                        // Of a leader that was killed, or stands still.
                        Files.deleteIfExists(path);
                        final Role role = lead(path, source, receiver, beatNs(channel), notices);
                        Elsewhere.note(path);
                        lookElsewhere(path, "leads this group", notices);
                        yield role;
                    }
                };
            } catch (final IOException e) {
                throw unusable(directory, e);
            }
        }
    }

    private static Found find(final Path path, final @Nullable UnixSocket connection, final long still) {
        if (connection == null) {
            return Files.exists(path) ? Found.VACANT : Found.EMPTY;
        }
        return still != 0 && connection.inode() == still ? Found.STILL : Found.LEADER;
    }

    /// A group of one, where no place is left in the channel's.
    static Role apart(final Channel channel, final Wakeup receiver, final Consumer<String> notices) {
        // Not even a publisher on this host has a place, perhaps: it is a source as any other.
        return alone(directory(), receiver, beatNs(channel), notices);
    }

    static Role alone(final Path directory, final Wakeup receiver, final long beatNs, final Consumer<String> notices) {
        return lead(LoneSockets.next(directory), null, receiver, beatNs, notices);
    }

    private static Role lead(
            final Path path,
            final @Nullable Path source,
            final Wakeup receiver,
            final long beatNs,
            final Consumer<String> notices) {
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            final UnixSocket listener = opened.add(UnixSocket.listen(path));
            final UnixSocket own = UnixSocket.connect(path);
            if (own == null) {
                throw new TransportException("host group: cannot connect to " + path);
            }
            opened.add(own);
            if (source == null) {
                // No other member comes, and a process that is killed leaves no socket.
                Files.deleteIfExists(path);
            }
            final Role role = new Role(new GroupLeader(path, source, listener, receiver, beatNs, notices), own, false);
            opened.keep();
            return role;
        } catch (final IOException e) {
            throw unusable(Objects.requireNonNull(path.getParent()), e);
        }
    }

    // Same user, network namespace, transport, interface, channel and key.
    static String name(final Channel channel, final String part, final String keyTag) {
        final String described = channel.stream().sources().hostGroup()
                + '|'
                + namespace()
                + '|'
                + address(channel)
                + '|'
                + channel.link().networkInterface()
                // The leader's membership must be alike in these.
                + '|'
                + channel.stream().framesHeld()
                + '|'
                + channel.stream().ringBytes()
                + '|'
                + channel.stream().sources().attachAfterMs()
                + (part.isEmpty() ? "" : '|' + part);
        final String cipher = channel.link().security().payloadCipher().word();
        return hash(keyTag.isEmpty() ? described : described + "|key " + keyTag + '|' + cipher);
    }

    private static String address(final Channel channel) {
        return channel.transport()
                + '|'
                + channel.name()
                + '|'
                + (channel instanceof Channel.Multicast multicast ? multicast.group() : "");
    }

    private static String hash(final String described) {
        return HexFormat.of().formatHex(digest(described), 0, NAME_BYTES);
    }

    /// The first bytes of a text's SHA-256, as a number.
    static long hash(final String text, final int bytes) {
        return HexFormat.fromHexDigitsToLong(HexFormat.of().formatHex(digest(text), 0, bytes));
    }

    private static byte[] digest(final String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
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

    // The user's runtime directory, else one in /tmp that no other user can have made.
    static Path directory() {
        final String runtime = System.getenv("XDG_RUNTIME_DIR");
        final Path directory =
                runtime == null || runtime.isEmpty() ? Elsewhere.common() : Path.of(runtime, "framecast");
        return require(directory);
    }

    private static Path require(final Path directory) {
        try {
            return PrivateDirectory.require(directory);
        } catch (final IOException e) {
            throw new TransportException("host group: cannot use " + directory + ": " + PrivateDirectory.reason(e)
                    + "; set XDG_RUNTIME_DIR to a directory of yours");
        }
    }
}
