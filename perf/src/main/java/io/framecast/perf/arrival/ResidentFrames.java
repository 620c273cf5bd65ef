package io.framecast.perf.arrival;

import io.framecast.api.Channel;
import io.framecast.api.DeviceFrame;
import io.framecast.api.FrameHandler;
import io.framecast.api.LossCounts;
import io.framecast.api.LossHandler;
import io.framecast.api.SourceHandler;
import io.framecast.api.Subscriber;
import io.framecast.api.SubscriberStats;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A subscriber without a network, whose frames lie in device memory already: the bench measures only how a
/// kernel is notified of them. All frames have the same bytes.
final class ResidentFrames implements Subscriber {
    private final DeviceBackend device;
    private final DeviceRegion memory;
    private final DeviceEvent ready;
    private final ArrayDeque<Frame> free = new ArrayDeque<>();
    private long wanted;
    private long nextId;
    private long returned;

    /// @param framesMax frames out at once
    ResidentFrames(final DeviceBackend device, final MemorySegment bytes, final int framesMax) {
        this.device = device;
        memory = device.allocate(bytes.byteSize());
        ready = device.openEvent();
        final MemorySegment pinned = device.allocatePinned(bytes.byteSize());
        MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, 0, pinned, ValueLayout.JAVA_BYTE, 0, bytes.byteSize());
        try (DeviceStream stream = device.openStream()) {
            stream.copyToDevice(memory.address(), pinned, 0, bytes.byteSize());
            stream.synchronize();
        }
        device.freePinned(pinned);
        for (int i = 0; i < framesMax; i++) {
            free.add(new Frame());
        }
    }

    /// So many frames more may be polled.
    void want(final long frames) {
        wanted += frames;
    }

    /// Frames that may still be polled.
    long wanted() {
        return wanted;
    }

    /// Frames polled.
    long polled() {
        return nextId;
    }

    /// Frames given back.
    long returned() {
        return returned;
    }

    DeviceRegion memory() {
        return memory;
    }

    @Override
    public @Nullable DeviceFrame poll() {
        if (wanted == 0 || free.isEmpty()) {
            return null;
        }
        wanted--;
        final Frame frame = free.remove();
        frame.id = nextId++;
        return frame;
    }

    @Override
    public State state() {
        return State.READY;
    }

    @Override
    public DeviceBackend device() {
        return device;
    }

    @Override
    public void close() {
        ready.close();
        device.free(memory);
    }

    private final class Frame implements DeviceFrame {
        private long id;

        @Override
        public long session() {
            return 1;
        }

        @Override
        public long frameId() {
            return id;
        }

        @Override
        public DeviceRegion region() {
            return memory;
        }

        @Override
        public long length() {
            return memory.bytes();
        }

        @Override
        public boolean keyframe() {
            return false;
        }

        @Override
        public long sourceTimestampNs() {
            return 0;
        }

        @Override
        public byte[] metadata() {
            return new byte[0];
        }

        @Override
        public DeviceEvent ready() {
            return ready;
        }

        @Override
        public void awaitReady() {
            ready.synchronize();
        }

        @Override
        public void release(final DeviceStream stream) {
            close();
        }

        @Override
        public void close() {
            returned++;
            free.add(this);
        }
    }

    @Override
    public void onLoss(final LossHandler handler) {
        // Nothing is lost.
    }

    @Override
    public void onSource(final SourceHandler handler) {
        // There is none.
    }

    @Override
    public Channel channel() {
        throw new UnsupportedOperationException("no channel");
    }

    @Override
    public Optional<String> failure() {
        return Optional.empty();
    }

    @Override
    public int poll(final FrameHandler handler, final int limit) {
        throw new UnsupportedOperationException("polled frame by frame");
    }

    @Override
    public boolean awaitFrame(final Duration longest) {
        return wanted > 0;
    }

    @Override
    public boolean post(final DeviceRegion region) {
        return false;
    }

    @Override
    public SubscriberStats stats() {
        return new SubscriberStats(nextId, nextId * memory.bytes(), nextId, 0, 0, 0, LossCounts.NONE, 0, 0);
    }
}
