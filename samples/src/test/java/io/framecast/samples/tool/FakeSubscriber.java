package io.framecast.samples.tool;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameHandler;
import io.framecast.api.LossCounts;
import io.framecast.api.LossHandler;
import io.framecast.api.LossReason;
import io.framecast.api.SourceEvent;
import io.framecast.api.SourceHandler;
import io.framecast.api.Subscriber;
import io.framecast.api.SubscriberStats;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/// A queue of frames in a [FakeDevice]'s memory.
final class FakeSubscriber implements Subscriber {
    private final FakeNetwork network;
    private final Channel channel;
    private final FakeDevice device;
    private final Deque<FakeFrame> queue = new ArrayDeque<>();
    private State failedState = State.READY;
    private String failure = "";
    private long frames;
    private long bytes;
    private final long[] lost = new long[LossReason.values().length];
    private LossHandler onLoss = (_, _, _) -> {};
    private SourceHandler onSource = _ -> {};
    private long rejoins;
    private int held;
    private boolean closed;

    FakeSubscriber(final FakeNetwork network, final Channel channel, final FakeDevice device) {
        this.network = network;
        this.channel = channel;
        this.device = device;
    }

    boolean isJoined() {
        return !closed && failedState == State.READY;
    }

    int queued() {
        return queue.size() + held;
    }

    int held() {
        return held;
    }

    void fail(final State state, final String why) {
        failedState = state;
        failure = why;
    }

    void enqueue(final long frameId, final byte[] content) {
        final DeviceRegion region = device.allocate(content.length);
        device.memory(region.address(), content.length).copyFrom(MemorySegment.ofArray(content));
        // A moment ago: the reader's clock was set by another reading of the system's.
        final Instant now = Instant.now().minusMillis(1);
        queue.add(new FakeFrame(frameId, region, now.getEpochSecond() * 1_000_000_000L + now.getNano()));
    }

    @Override
    public Channel channel() {
        return channel;
    }

    @Override
    public DeviceBackend device() {
        return device;
    }

    @Override
    public State state() {
        synchronized (network) {
            if (closed) {
                return State.CLOSED;
            }
            if (failedState != State.READY) {
                return failedState;
            }
            if (network.publisher == null) {
                return State.JOINING;
            }
            return network.publisher.ended && queue.isEmpty() ? State.END_OF_STREAM : State.READY;
        }
    }

    @Override
    public Optional<String> failure() {
        return Optional.of(failure.isEmpty() ? network.joinFailure : failure).filter(text -> !text.isEmpty());
    }

    @Override
    public int poll(final FrameHandler handler, final int limit) {
        throw new UnsupportedOperationException("not needed by the commands");
    }

    @Override
    public DeviceFrame poll() {
        synchronized (network) {
            final FakeFrame frame = queue.poll();
            final LossReason reason = frame == null ? null : network.lost.get(frame.frameId());
            if (reason != null) {
                held++;
                frame.close();
                lost[reason.ordinal()]++;
                onLoss.onLoss(frame.frameId(), 1, reason);
                return null;
            }
            if (frame != null) {
                reportSource(frame.frameId());
                held++;
                frames++;
                bytes += frame.length();
            }
            return frame;
        }
    }

    private void reportSource(final long frameId) {
        if (frameId == network.rejoinAtFrame) {
            rejoins++;
            onSource.onSource(new SourceEvent(0xca, SourceEvent.Kind.LOST, -1, "source lost: silent for 5 s"));
            onSource.onSource(new SourceEvent(0xcb, SourceEvent.Kind.REJOINED, frameId, ""));
        } else if (frames == 0) {
            onSource.onSource(new SourceEvent(0xca, SourceEvent.Kind.JOINED, frameId, ""));
        }
    }

    @Override
    public void onSource(final SourceHandler handler) {
        onSource = handler;
    }

    @Override
    public boolean awaitFrame(final Duration longest) {
        LockSupport.parkNanos(20_000);
        synchronized (network) {
            return !queue.isEmpty();
        }
    }

    @Override
    public void onLoss(final LossHandler handler) {
        onLoss = handler;
    }

    @Override
    public boolean post(final DeviceRegion region) {
        return false;
    }

    @Override
    public SubscriberStats stats() {
        return new SubscriberStats(
                frames,
                bytes,
                frames,
                0,
                2,
                0,
                new LossCounts(lost[0], lost[1], lost[2], lost[3], lost[4], lost[5]),
                0,
                rejoins);
    }

    @Override
    public void close() {
        synchronized (network) {
            closed = true;
        }
    }

    /// Freed, and overwritten, once given back.
    private final class FakeFrame implements DeviceFrame {
        private final long frameId;
        private final DeviceRegion region;
        private final long sourceTimestampNs;
        private boolean released;

        FakeFrame(final long frameId, final DeviceRegion region, final long sourceTimestampNs) {
            this.frameId = frameId;
            this.region = region;
            this.sourceTimestampNs = sourceTimestampNs;
        }

        @Override
        public long session() {
            return 1;
        }

        @Override
        public long frameId() {
            return frameId;
        }

        @Override
        public DeviceRegion region() {
            return region;
        }

        @Override
        public long length() {
            return region.bytes();
        }

        @Override
        public boolean keyframe() {
            return true;
        }

        @Override
        public long sourceTimestampNs() {
            return sourceTimestampNs;
        }

        @Override
        public byte[] metadata() {
            return new byte[0];
        }

        @Override
        public DeviceEvent ready() {
            return new FakeDevice.FakeEvent();
        }

        @Override
        public void awaitReady() {}

        @Override
        public void release(final DeviceStream stream) {
            ((FakeStream) stream).enqueue(this::close);
        }

        @Override
        public void close() {
            synchronized (network) {
                if (!released) {
                    released = true;
                    held--;
                    device.memory(region.address(), region.bytes()).fill((byte) 0xee);
                    device.free(region);
                }
            }
        }
    }
}
