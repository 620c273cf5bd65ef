package io.framecast.engine.clients;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.api.Channel;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.Publisher;
import io.framecast.api.error.FramecastException;
import io.framecast.api.error.TransportException;
import io.framecast.engine.auth.AuthKeys;
import io.framecast.engine.codec.FormatCodec;
import io.framecast.engine.hostgroup.HostGroups;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.libc.PollSet;
import io.framecast.engine.libc.UnixSocket;
import io.framecast.engine.ready.Uninterrupted;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/// Publishes for processes of this user on this host, one at a time on a channel: each writes frames into a ring of its
/// own, from where they are copied into the send window. A client that ends its stream ends the stream of the channel's
/// subscribers. A client that dies loses its uncommitted frames, and subscribers report the source lost. The next
/// client begins a new session.
///
/// Two threads of its own: one accepts, one publishes.
public final class ClientPublishers implements AutoCloseable {
    private static final Duration LOOK = Duration.ofMillis(100);
    // Of a client that waits for subscribers: nothing else shows that one is ready.
    private static final Duration READY_LOOK = Duration.ofMillis(5);
    private static final Duration LINGER = Duration.ofSeconds(10);
    private static final long CLOSE_MAX_NS = 2 * LINGER.toNanos();
    private static final long HELLO_MAX_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int NO_DESCRIPTOR = -1;

    private final Framecast node;
    private final Channel channel;
    private final Consumer<String> events;
    private final Path path;
    // The accepting thread's, until it ends: both change where the socket was removed.
    private volatile UnixSocket listener;
    private volatile long inode;
    private boolean removalReported;
    private final Thread thread;
    private final AtomicLong frames = new AtomicLong();
    private final AtomicLong dropped = new AtomicLong();
    private final AtomicLong clients = new AtomicLong();
    // Set before a worker starts, for it may end at once.
    private volatile boolean working;
    private volatile boolean closed;

    private ClientPublishers(
            final Framecast node, final Channel channel, final Path path, final Consumer<String> events) {
        this.node = node;
        this.channel = channel;
        this.path = path;
        this.events = events;
        listener = HostGroups.listenForClients(path);
        inode = UnixSocket.inode(path);
        thread = Thread.ofPlatform().daemon().name("framecast-clients").start(this::accept);
    }

    /// Begins to accept.
    ///
    /// @param node publishes, and outlives this object
    /// @param channel of the stream; with `host-group=`, subscribers of this host read its window
    /// @param events lines about clients that come and go
    /// @throws TransportException where another process accepts clients of this channel on this host
    public static ClientPublishers open(final Framecast node, final Channel channel, final Consumer<String> events) {
        final String keyTag = AuthKeys.hostTagOfSource(channel.link().security());
        return new ClientPublishers(node, channel, HostGroups.clientsPath(channel, keyTag), events);
    }

    /// Frames published for all clients so far.
    public long frames() {
        return frames.get();
    }

    /// Frames that no subscriber was there for.
    public long dropped() {
        return dropped.get();
    }

    /// Clients so far.
    public long clients() {
        return clients.get();
    }

    private void accept() {
        try (Arena arena = Arena.ofConfined()) {
            final PollSet polled = new PollSet(arena, 1);
            final MemorySegment message = arena.allocate(UnixSocket.MESSAGE_BYTES, Long.BYTES);
            while (!closed) {
                if (!isReady(polled, listener.descriptor(), LOOK.toNanos())) {
                    listenAgain();
                    continue;
                }
                final UnixSocket socket = listener.accept();
                if (socket != null && !hear(socket, message, polled)) {
                    socket.close();
                }
            }
        } catch (final RuntimeException | Error e) {
            events.accept(channel.name() + ": accepts no clients any more: " + e);
        }
    }

    // Where a cleaner of temporary files took the socket for an old file, clients would look for it in vain.
    private void listenAgain() {
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try {
            final UnixSocket made = HostGroups.listenForClients(path);
            listener.close();
            listener = made;
            inode = UnixSocket.inode(path);
            removalReported = false;
            events.accept(channel.name() + ": " + path + " was removed, and is made again; keep cleaners of temporary"
                    + " files away from its directory");
        } catch (final TransportException e) {
            if (!removalReported) {
                removalReported = true;
                events.accept(
                        channel.name() + ": " + path + " was removed: no client finds this process; " + e.getMessage());
            }
        }
    }

    private static boolean isReady(final PollSet polled, final int descriptor, final long ns) {
        polled.watch(0, descriptor);
        polled.await(1, ns);
        return polled.isReady(0);
    }

    // Whether a client's stream begins; else its connection is closed.
    private boolean hear(final UnixSocket socket, final MemorySegment message, final PollSet polled) {
        if (socket.peerUser() != Libc.getuid() || !isReady(polled, socket.descriptor(), HELLO_MAX_NS)) {
            return false;
        }
        final int[] descriptors = new int[UnixSocket.DESCRIPTORS_MAX];
        Arrays.fill(descriptors, NO_DESCRIPTOR);
        final int bytes = socket.receive(message, descriptors, Linux.MSG_DONTWAIT);
        final boolean ours = bytes == ClientLayout.MESSAGE_BYTES && message.get(JAVA_LONG, 0) == ClientLayout.MAGIC;
        final boolean whole = ours
                && message.get(JAVA_INT, ClientLayout.MESSAGE_TYPE) == ClientLayout.TYPE_PUBLISH
                && Arrays.stream(descriptors).allMatch(descriptor -> descriptor >= 0);
        final int code;
        if (ours && message.get(JAVA_INT, ClientLayout.MESSAGE_VERSION) != ClientLayout.VERSION) {
            code = ClientLayout.OTHER_VERSION;
        } else if (!whole) {
            code = ClientLayout.REFUSED;
        } else {
            code = working ? ClientLayout.BUSY : ClientLayout.ACCEPTED;
        }
        if (code == ClientLayout.ACCEPTED) {
            return begin(socket, message, descriptors);
        }
        for (final int descriptor : descriptors) {
            closeIfOpen(descriptor);
        }
        answer(socket, message, code, 0);
        return false;
    }

    private static void closeIfOpen(final int descriptor) {
        if (descriptor >= 0) {
            Libc.close(descriptor);
        }
    }

    private boolean begin(final UnixSocket socket, final MemorySegment message, final int[] descriptors) {
        final long process = socket.peerProcess();
        final long wanted = message.get(JAVA_LONG, ClientLayout.MESSAGE_FRAME_MAX);
        ClientRing ring = null;
        Publisher publisher = null;
        try {
            ring = new ClientRing(descriptors);
            final Channel its = wanted > 0 ? channel.withStream(channel.stream().withFrameMaxBytes(wanted)) : channel;
            publisher = node.publish(its);
            final Client client = new Client(socket, ring, publisher, process);
            if (answer(socket, message, ClientLayout.ACCEPTED, its.stream().frameMaxBytes())) {
                clients.incrementAndGet();
                working = true;
                Thread.ofPlatform().daemon().name("framecast-client").start(() -> run(client));
                return true;
            }
        } catch (final FramecastException | IllegalArgumentException e) {
            events.accept(channel.name() + ": " + UnixSocket.describe(process) + " cannot publish: " + e.getMessage());
            answer(socket, message, ClientLayout.REFUSED, 0);
        }
        if (publisher != null) {
            publisher.abandon();
        }
        if (ring != null) {
            ring.close();
        }
        return false;
    }

    private static boolean answer(
            final UnixSocket socket, final MemorySegment message, final int code, final long frameMaxBytes) {
        message.fill((byte) 0);
        message.set(JAVA_LONG, ClientLayout.MESSAGE_MAGIC, ClientLayout.MAGIC);
        message.set(JAVA_INT, ClientLayout.MESSAGE_VERSION, ClientLayout.VERSION);
        message.set(JAVA_INT, ClientLayout.MESSAGE_TYPE, ClientLayout.TYPE_ANSWER);
        message.set(JAVA_INT, ClientLayout.MESSAGE_CODE, code);
        message.set(JAVA_LONG, ClientLayout.MESSAGE_FRAME_MAX, frameMaxBytes);
        return socket.send(message.asSlice(0, ClientLayout.MESSAGE_BYTES));
    }

    private void run(final Client client) {
        events.accept(channel.name() + ": " + UnixSocket.describe(client.process) + " publishes");
        String end = "";
        try (Arena arena = Arena.ofConfined()) {
            end = client.publish(new PollSet(arena, 2));
        } catch (final RuntimeException | Error e) {
            end = "is stopped: " + e.getMessage();
            client.fail();
        } finally {
            client.close();
            working = false;
            events.accept(channel.name() + ": " + UnixSocket.describe(client.process) + " " + end);
        }
    }

    private final class Client implements AutoCloseable {
        private final UnixSocket socket;
        private final ClientRing ring;
        private final Publisher publisher;
        private final long process;
        private final long frameMaxBytes;
        private long published;

        Client(final UnixSocket socket, final ClientRing ring, final Publisher publisher, final long process) {
            this.socket = socket;
            this.ring = ring;
            this.publisher = publisher;
            this.process = process;
            frameMaxBytes = publisher.channel().stream().frameMaxBytes();
        }

        // How it ended.
        String publish(final PollSet polled) {
            boolean gone = false;
            while (!closed) {
                ring.report(publisher.readySubscribers(), ClientLayout.OPEN);
                final ClientRing.Entry entry = ring.poll(frameMaxBytes);
                if (entry == null) {
                    if (gone) {
                        publisher.abandon();
                        return "is gone after " + published + " frames";
                    }
                    if (ring.sleeps()) {
                        polled.watch(0, ring.wakerDescriptor());
                        polled.watch(1, socket.descriptor());
                        polled.await(2, (ring.isAwaited() ? READY_LOOK : LOOK).toNanos());
                        gone = polled.isReady(1);
                    }
                    ring.wakes();
                } else if (entry.kind() == ClientLayout.END) {
                    ring.release();
                    return end();
                } else {
                    take(entry);
                    ring.release();
                }
            }
            publisher.abandon();
            ring.report(0, ClientLayout.FAILED);
            return "stopped after " + published + " frames, for this process ends";
        }

        private String end() {
            final boolean all = publisher.close(LINGER);
            ring.report(0, ClientLayout.ENDED);
            return "ended its stream after " + published + " frames"
                    + (all ? "" : "; not every subscriber acknowledged all of them");
        }

        private void take(final ClientRing.Entry entry) {
            switch (entry.kind()) {
                case ClientLayout.FRAME -> offer(entry);
                case ClientLayout.FORMAT ->
                    publisher.format(FormatCodec.decode(entry.payload().toArray(JAVA_BYTE)));
                default -> throw new TransportException("its ring is broken: a record of kind " + entry.kind());
            }
        }

        private void offer(final ClientRing.Entry entry) {
            final FrameOptions options = new FrameOptions(entry.keyframe(), entry.timestampNs(), entry.metadata());
            while (!closed) {
                final long result = publisher.offer(entry.payload(), options);
                if (result > 0) {
                    published++;
                    frames.incrementAndGet();
                    return;
                }
                if (result == Publisher.NOT_CONNECTED) {
                    dropped.incrementAndGet();
                    return;
                }
                if (result == Publisher.CLOSED) {
                    throw new TransportException(publisher.failure().orElse("its publisher was closed"));
                }
                publisher.awaitRoom(entry.payload().byteSize(), LOOK);
            }
        }

        void fail() {
            ring.report(0, ClientLayout.FAILED);
        }

        @Override
        public void close() {
            publisher.abandon();
            ring.close();
            socket.close();
        }
    }

    @Override
    public void close() {
        closed = true;
        Uninterrupted.await(() -> !thread.isAlive(), CLOSE_MAX_NS);
        Uninterrupted.await(() -> !working, CLOSE_MAX_NS);
        listener.close();
        HostGroups.removeListener(path, inode);
    }
}
