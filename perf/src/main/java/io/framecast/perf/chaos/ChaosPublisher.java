package io.framecast.perf.chaos;

import io.framecast.api.Channel;
import io.framecast.api.FrameOptions;
import io.framecast.api.Framecast;
import io.framecast.api.Publisher;
import io.framecast.perf.harness.ParentLink;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/// Publishes frames at a rate until the order to end the stream.
final class ChaosPublisher {
    private static final Duration LINGER = Duration.ofSeconds(20);
    private static final Duration LOOK = Duration.ofMillis(20);
    // The publisher catches up after a stall, but not all at once and for ever.
    private static final long DEBT_MAX_NS = 200_000_000;
    private static final long SECOND_NS = 1_000_000_000;

    private final ChaosSettings settings;
    private final ParentLink parent;
    private final ChaosRole role;

    ChaosPublisher(final ChaosSettings settings, final ParentLink parent, final ChaosRole role) {
        this.settings = settings;
        this.parent = parent;
        this.role = role;
    }

    /// @throws IllegalStateException when the stream did not end well
    int run(final Framecast node) {
        try (Publisher publisher = node.publish(Channel.parse(settings.channel()));
                Arena arena = Arena.ofConfined()) {
            final long frames =
                    publish(publisher, arena.allocate(settings.frames().frameBytes(), Long.BYTES));
            if (publisher.failure().isPresent()) {
                throw new IllegalStateException(publisher.failure().orElseThrow());
            }
            if (!publisher.close(LINGER)) {
                throw new IllegalStateException("not every subscriber acknowledged the end of the stream");
            }
            parent.send(StreamLog.END, (frames - 1) + " " + frames);
            return ChaosRole.ENDED;
        }
    }

    /// @return how many frames were taken
    private long publish(final Publisher publisher, final MemorySegment memory) {
        final long intervalNs = (long) (SECOND_NS / settings.rate());
        long dueNs = System.nanoTime();
        long frameId = 0;
        while (!role.isEnding()) {
            final MemorySegment frame = memory.asSlice(0, settings.frames().bytes(frameId));
            settings.frames().fill(frame, frameId);
            final FrameOptions options =
                    FrameOptions.DEFAULT.withMetadata(settings.frames().metadata(frame, frameId));
            if (!offer(publisher, frame, options)) {
                return frameId;
            }
            role.onFrame(parent, frameId, frameId + 1);
            frameId++;
            final long nowNs = System.nanoTime();
            dueNs = Math.max(dueNs + intervalNs, nowNs - DEBT_MAX_NS);
            if (dueNs > nowNs) {
                LockSupport.parkNanos(dueNs - nowNs);
            }
        }
        return frameId;
    }

    // A frame that has begun is offered until all of it is taken, also when the stream is to end.
    private boolean offer(final Publisher publisher, final MemorySegment frame, final FrameOptions options) {
        long code = publisher.offer(frame, options);
        while (code < 0) {
            if (code == Publisher.CLOSED || (code == Publisher.NOT_CONNECTED && role.isEnding())) {
                return false;
            }
            publisher.awaitRoom(frame.byteSize(), LOOK);
            code = publisher.offer(frame, options);
        }
        return true;
    }
}
