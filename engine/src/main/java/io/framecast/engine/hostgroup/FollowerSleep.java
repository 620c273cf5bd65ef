package io.framecast.engine.hostgroup;

import io.framecast.engine.libc.EventCount;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.PollSet;
import io.framecast.engine.libc.UnixSocket;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// How a follower's user waits: until its leader published something, or there is other news.
///
/// Threading: one thread sleeps; any thread wakes it.
final class FollowerSleep implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final PollSet polled = new PollSet(arena, 2);
    private final MemorySegment message = arena.allocate(UnixSocket.MESSAGE_BYTES, Long.BYTES);
    // Wakes the user's thread for news other than an entry.
    private final int news = EventCount.open();

    /// There is news.
    void wake() {
        EventCount.add(news);
    }

    /// Sleeps for so long at most.
    ///
    /// @param shared the segment whose leader wakes it; null before the first
    void sleep(final @Nullable FollowerSegment shared, final long ns) {
        final long atMostNs = Math.max(0, ns);
        polled.watch(0, news);
        if (shared == null || !shared.enter()) {
            polled.await(1, atMostNs);
        } else {
            try {
                polled.watch(1, shared.waker());
                polled.await(2, shared.sleeps(shared.state()) ? atMostNs : 0);
                if (polled.isReady(1)) {
                    EventCount.drain(shared.waker(), message);
                }
                shared.wakes();
            } finally {
                shared.exit();
            }
        }
        if (polled.isReady(0)) {
            EventCount.drain(news, message);
        }
    }

    /// Nobody sleeps or wakes any more.
    @Override
    public void close() {
        Libc.close(news);
        arena.close();
    }
}
