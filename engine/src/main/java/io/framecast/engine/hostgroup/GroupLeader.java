package io.framecast.engine.hostgroup;

import io.framecast.api.error.TransportException;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.memory.MirroredMemory;
import io.framecast.engine.ready.Wakeup;
import io.framecast.reliability.assembly.Assembly;
import io.framecast.reliability.memory.Words;
import io.framecast.reliability.wire.StreamInfo;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The leader of a host group: listens for followers, gives each the descriptors of what it shares, and notices when
/// one
/// dies, by the end of its connection.
///
/// Threading: a thread of its own; [#share] and [#retire] by any, [#close] by one.
public final class GroupLeader implements AutoCloseable {
    private static final int FOREVER = 0;
    private static final long END_WAIT_MS = 2_000;
    private static final long BACK_OFF_NS = 10_000_000;

    private final Path path;
    private final UnixSocket listener;
    private final long user;
    private final Wakeup receiver;
    private final Consumer<String> notices;
    // Followers write here when they released something; the leader itself when a segment came or it closes.
    private final int counter = EventCount.open();
    private final Thread thread;
    private final List<Follower> followers = new ArrayList<>();
    private final Object lock = new Object();
    private @Nullable LeaderSegment segment;
    private long generations;
    private boolean ended;
    private volatile boolean closed;

    private static final class Follower {
        private final UnixSocket socket;
        private final int waker = EventCount.open();
        private long process;
        private boolean known;
        private @Nullable LeaderSegment segment;
        private int member = -1;

        Follower(final UnixSocket socket) {
            this.socket = socket;
        }
    }

    GroupLeader(final Path path, final UnixSocket listener, final Wakeup receiver, final Consumer<String> notices) {
        this.path = path;
        this.listener = listener;
        this.receiver = receiver;
        this.notices = notices;
        user = Libc.getuid();
        thread = Thread.ofPlatform().daemon().name("framecast-host-group").start(this::run);
    }

    /// Where followers meet it.
    Path path() {
        return path;
    }

    /// Shares the frames of a new session.
    ///
    /// @param ring where they lie, mapped twice
    public SharedFrames share(
            final Assembly assembly, final StreamInfo stream, final MirroredMemory ring, final long ringBytes) {
        final LeaderSegment made;
        synchronized (lock) {
            made = new LeaderSegment(
                    ring.descriptor(), ringBytes, stream.session(), ++generations, stream.frameMaxBytes());
            segment = made;
        }
        EventCount.add(counter);
        return new SharedFrames(assembly, this, made);
    }

    /// The session's memory is to be freed.
    void retire(final LeaderSegment retired) {
        synchronized (lock) {
            for (final Follower follower : followers) {
                if (follower.segment == retired) {
                    follower.segment = null;
                }
            }
            segment = segment == retired ? null : segment;
            retired.close();
            if (ended) {
                followers.forEach(follower -> Libc.close(follower.waker));
                followers.clear();
            }
        }
    }

    private void run() {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment polled =
                    arena.allocate((long) (2 + SegmentLayout.MEMBERS) * Linux.POLLFD_BYTES, Long.BYTES);
            final MemorySegment message = arena.allocate(UnixSocket.MESSAGE_BYTES, Long.BYTES);
            while (!closed) {
                final int count = watch(polled);
                Libc.ppoll(polled.address(), count, FOREVER);
                EventCount.drain(counter, message);
                receiver.wake();
                synchronized (lock) {
                    hear(polled, message);
                    accept(polled);
                    announce(message);
                }
            }
        } catch (final RuntimeException | Error e) {
            notices.accept("host group at " + path + " ended: " + e);
        } finally {
            end();
        }
    }

    private int watch(final MemorySegment polled) {
        synchronized (lock) {
            watch(polled, 0, listener.descriptor());
            watch(polled, 1, counter);
            for (int i = 0; i < followers.size(); i++) {
                watch(polled, 2 + i, followers.get(i).socket.descriptor());
            }
            return 2 + followers.size();
        }
    }

    private static void watch(final MemorySegment polled, final int index, final int descriptor) {
        final long at = (long) index * Linux.POLLFD_BYTES;
        Words.setInt(polled, at, descriptor);
        Words.setInt(polled, at + Linux.POLLFD_EVENTS, Linux.POLLIN);
    }

    private static boolean isReady(final MemorySegment polled, final int index) {
        return Words.getShort(polled, (long) index * Linux.POLLFD_BYTES + Linux.POLLFD_EVENTS + Short.BYTES) != 0;
    }

    private void hear(final MemorySegment polled, final MemorySegment message) {
        final int[] descriptors = new int[UnixSocket.DESCRIPTORS_MAX];
        for (int i = followers.size() - 1; i >= 0; i--) {
            if (!isReady(polled, 2 + i)) {
                continue;
            }
            final Follower follower = followers.get(i);
            final int bytes = follower.socket.receive(message, descriptors, Linux.MSG_DONTWAIT);
            for (final int descriptor : descriptors) {
                if (descriptor >= 0) {
                    Libc.close(descriptor);
                }
            }
            if (bytes < 0) {
                continue;
            }
            if (!follower.known && GroupMessage.is(message, bytes, GroupMessage.HELLO)) {
                follower.known = true;
                follower.process = GroupMessage.process(message);
            } else {
                if (GroupMessage.isForeign(message, bytes)) {
                    notices.accept(
                            "host group at " + path + ": a process speaks another version of docs/host-segment.md;"
                                    + " run the same version of framecast in both");
                }
                followers.remove(i);
                dismiss(follower);
            }
        }
    }

    private void dismiss(final Follower follower) {
        final LeaderSegment shared = follower.segment;
        if (shared != null && follower.member >= 0) {
            shared.dismiss(follower.member);
        }
        follower.socket.close();
        Libc.close(follower.waker);
        receiver.wake();
    }

    private void accept(final MemorySegment polled) {
        if (!isReady(polled, 0)) {
            return;
        }
        final UnixSocket socket = listener.accept();
        if (socket == null) {
            // Out of descriptors: the connection stays readable.
            LockSupport.parkNanos(BACK_OFF_NS);
            return;
        }
        try {
            if (socket.peerUser() == user && followers.size() < SegmentLayout.MEMBERS) {
                followers.add(new Follower(socket));
                return;
            }
        } catch (final TransportException e) {
            notices.accept(e.getMessage());
        }
        socket.close();
    }

    private void announce(final MemorySegment message) {
        final LeaderSegment shared = segment;
        if (shared == null) {
            return;
        }
        for (int i = followers.size() - 1; i >= 0; i--) {
            final Follower follower = followers.get(i);
            if (!follower.known || follower.segment == shared) {
                continue;
            }
            final int member = shared.admit(follower.process, follower.waker);
            follower.segment = shared;
            follower.member = member;
            if (member < 0
                    || !follower.socket.send(
                            GroupMessage.segment(message, shared.generation(), member),
                            shared.ringDescriptor(),
                            shared.wordsDescriptor(),
                            follower.waker,
                            counter)) {
                followers.remove(i);
                dismiss(follower);
            }
        }
    }

    // Followers see the end of their connections. Their places stay taken: as long as the membership lives, what they
    // may still read is not written again.
    private void end() {
        synchronized (lock) {
            ended = true;
            for (final Follower follower : followers) {
                follower.socket.close();
            }
            listener.close();
        }
    }

    /// Followers see the end of their connections: one of them leads then.
    @Override
    public void close() {
        if (closed) {
            return;
        }
        // Before the connections end, so that a follower makes a socket of its own. After the thread ended by itself
        // the
        // path may be another leader's.
        if (thread.isAlive()) {
            try {
                Files.deleteIfExists(path);
            } catch (final IOException e) {
                notices.accept("host group: cannot remove " + path + ": " + e.getMessage());
            }
        }
        closed = true;
        EventCount.add(counter);
        try {
            thread.join(END_WAIT_MS);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
