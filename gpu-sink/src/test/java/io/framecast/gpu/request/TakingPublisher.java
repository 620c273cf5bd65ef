package io.framecast.gpu.request;

import io.framecast.api.Channel;
import io.framecast.api.FrameClaim;
import io.framecast.api.FrameOptions;
import io.framecast.api.Publisher;
import io.framecast.api.PublisherStats;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// A publisher without a network, which keeps what it was given. Says what a test wants it to say.
final class TakingPublisher implements Publisher, FrameClaim.Owner {
    private final MemorySegment window;
    final List<byte[]> frames = new ArrayList<>();
    final List<FrameOptions> options = new ArrayList<>();
    // Keeps nothing, for tests that count what is allocated.
    boolean forgets;
    // Answers of tryClaim before it takes anything.
    long refusals;
    boolean closed;
    long taken;
    long aborted;
    private long claimed;

    TakingPublisher(final Arena arena, final long windowBytes) {
        window = arena.allocate(windowBytes);
    }

    @Override
    public long tryClaim(final long bytes, final FrameClaim claim) {
        if (bytes < 1 || bytes > window.byteSize()) {
            throw new IllegalArgumentException("frame-max: expected 1 … " + window.byteSize() + ", got " + bytes);
        }
        if (closed) {
            return CLOSED;
        }
        if (refusals > 0) {
            refusals--;
            return refusals % 2 == 0 ? BACK_PRESSURED : NOT_CONNECTED;
        }
        claimed = bytes;
        claim.wrap(forgets ? window : window.asSlice(0, bytes), this);
        return bytes;
    }

    @Override
    public void commit(final FrameOptions with) {
        if (closed) {
            return;
        }
        taken++;
        if (!forgets) {
            frames.add(window.asSlice(0, claimed).toArray(ValueLayout.JAVA_BYTE));
            options.add(with);
        }
    }

    @Override
    public void abort() {
        claimed = 0;
        aborted++;
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public Channel channel() {
        throw new UnsupportedOperationException();
    }

    @Override
    public long offer(final MemorySegment frame, final FrameOptions with) {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean awaitRoom(final long bytes, final Duration longest) {
        return true;
    }

    @Override
    public int readySubscribers() {
        return 1;
    }

    @Override
    public PublisherStats stats() {
        throw new UnsupportedOperationException();
    }

    @Override
    public Optional<String> failure() {
        return Optional.empty();
    }

    @Override
    public boolean close(final Duration linger) {
        closed = true;
        return true;
    }

    @Override
    public void close() {
        closed = true;
    }

    @Override
    public void abandon() {
        closed = true;
    }
}
