package io.framecast.samples.tool;

import io.framecast.api.Channel;
import io.framecast.api.FrameClaim;
import io.framecast.api.FrameOptions;
import io.framecast.api.Publisher;
import io.framecast.api.PublisherStats;
import io.framecast.api.format.FrameFormat;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/// Hands each frame to every subscriber that has room, or to none.
final class FakePublisher implements Publisher {
    private final FakeNetwork network;
    private final Channel channel;
    private long frames;
    private long bytes;
    private long backPressured;
    private long evicted;
    private boolean claimOpen;
    volatile boolean alone;
    boolean ended;
    boolean abandoned;
    int claims;
    int offers;

    FakePublisher(final FakeNetwork network, final Channel channel) {
        this.network = network;
        this.channel = channel;
    }

    @Override
    public void format(final FrameFormat format) {
        // Formats change nothing here.
    }

    @Override
    public Channel channel() {
        return channel;
    }

    private List<FakeSubscriber> live() {
        return network.subscribers.stream().filter(FakeSubscriber::isJoined).toList();
    }

    private long code() {
        if (live().isEmpty()) {
            alone = true;
            return NOT_CONNECTED;
        }
        if (live().stream().anyMatch(subscriber -> subscriber.queued() >= FakeNetwork.CREDIT_FRAMES)) {
            backPressured++;
            return BACK_PRESSURED;
        }
        return bytes + 1;
    }

    @Override
    public long tryClaim(final long length, final FrameClaim claim) {
        synchronized (network) {
            if (claimOpen) {
                throw new IllegalStateException("one claim at a time");
            }
            if ((network.windowBytes > 0 && length > network.windowBytes) || length > frameMax()) {
                throw new IllegalArgumentException("window: expected at least " + length + " bytes");
            }
            final long code = code();
            if (code > 0) {
                claimOpen = true;
                claims++;
                final MemorySegment segment = MemorySegment.ofArray(new byte[(int) length]);
                claim.wrap(segment, new ClaimOwner(segment));
            }
            return code;
        }
    }

    private long frameMax() {
        return channel.stream().frameMaxBytes();
    }

    @Override
    public long offer(final MemorySegment frame, final FrameOptions options) {
        synchronized (network) {
            final long code = code();
            if (code > 0) {
                offers++;
                deliver(frame.toArray(ValueLayout.JAVA_BYTE));
            }
            return code;
        }
    }

    private void deliver(final byte[] frame) {
        final byte[] sent = frame.clone();
        if (frames == network.corruptFrameId) {
            sent[sent.length / 2] ^= 0x10;
        }
        if (frames == network.dropSubscriberAtFrame) {
            live().getFirst().fail(io.framecast.api.Subscriber.State.SOURCE_LOST, "evicted: silent for 5 s");
            evicted++;
        }
        if (frames == network.loseSourceAtFrame) {
            live().forEach(subscriber ->
                    subscriber.fail(io.framecast.api.Subscriber.State.SOURCE_LOST, "the source was silent for 5 s"));
        }
        live().forEach(subscriber -> subscriber.enqueue(frames, sent));
        frames++;
        bytes += frame.length;
    }

    @Override
    public boolean awaitRoom(final long bytes, final Duration longest) {
        LockSupport.parkNanos(20_000);
        return true;
    }

    @Override
    public int readySubscribers() {
        synchronized (network) {
            return live().size();
        }
    }

    @Override
    public List<String> unreadySubscribers() {
        return network.unready;
    }

    @Override
    public PublisherStats stats() {
        synchronized (network) {
            return new PublisherStats(frames, bytes, backPressured, frames, 0, evicted, List.of(), List.of());
        }
    }

    @Override
    public Optional<String> failure() {
        return Optional.empty();
    }

    @Override
    public boolean close(final Duration linger) {
        synchronized (network) {
            if (claimOpen) {
                throw new IllegalStateException("closed with an open claim");
            }
            ended |= !abandoned;
            return !abandoned;
        }
    }

    @Override
    public void close() {
        close(Duration.ZERO);
    }

    @Override
    public void abandon() {
        synchronized (network) {
            if (!ended && !abandoned) {
                abandoned = true;
                live().forEach(subscriber -> subscriber.fail(
                        io.framecast.api.Subscriber.State.SOURCE_LOST, "source lost: it closed without end of stream"));
            }
        }
    }

    private final class ClaimOwner implements FrameClaim.Owner {
        private final MemorySegment segment;

        ClaimOwner(final MemorySegment segment) {
            this.segment = segment;
        }

        @Override
        public void commit(final FrameOptions options) {
            synchronized (network) {
                claimOpen = false;
                deliver(segment.toArray(ValueLayout.JAVA_BYTE));
            }
        }

        @Override
        public void abort() {
            synchronized (network) {
                claimOpen = false;
            }
        }
    }
}
