package io.framecast.gpu.arrival;

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
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A subscriber without a network: frames of patterns in a few places of device memory, written by
/// asynchronous copies the moment a place is given back, and whatever else a test scripts between them.
final class ScriptedSubscriber implements Subscriber {
    private final DeviceBackend device;
    private final long session;
    private final int frameBytes;
    private final Place[] places;
    private final DeviceStream stream;
    private final ArrayDeque<Place> free = new ArrayDeque<>();
    private final ArrayDeque<Runnable> script = new ArrayDeque<>();
    private long toCome;
    private long nextId;
    private State endState = State.END_OF_STREAM;
    private boolean ended;
    private LossHandler onLoss = (_, _, _) -> {};
    private SourceHandler onSource = _ -> {};
    int framesHeld;

    ScriptedSubscriber(final DeviceBackend device, final long session, final int frameBytes, final int places) {
        this.device = device;
        this.session = session;
        this.frameBytes = frameBytes;
        stream = device.openStream();
        this.places = new Place[places];
        for (int i = 0; i < places; i++) {
            this.places[i] = new Place();
            free.add(this.places[i]);
        }
    }

    /// Byte `index` of frame `frameId`.
    static byte pattern(final long frameId, final long index) {
        return (byte) (frameId * 31 + index * 7 + (index >> 8));
    }

    /// The checksum of such a frame.
    static long sum(final long frameId, final long bytes) {
        long sum = 0;
        for (long i = 0; i < bytes; i++) {
            sum += (Byte.toUnsignedLong(pattern(frameId, i)) + 1) * (i + 1);
        }
        return sum;
    }

    void frames(final long count) {
        toCome += count;
    }

    void lose(final long count, final LossReason reason) {
        final long first = nextId;
        nextId += count;
        script.add(() -> onLoss.onLoss(session, first, count, reason));
    }

    void source(final SourceEvent.Kind kind) {
        final SourceEvent event = new SourceEvent(session, kind, nextId, "");
        script.add(() -> onSource.onSource(event));
    }

    void end(final State state) {
        endState = state;
        ended = true;
    }

    /// Whether every frame was polled and given back.
    boolean isIdle() {
        return toCome == 0 && framesHeld == 0;
    }

    @Override
    public @Nullable DeviceFrame poll() {
        while (!script.isEmpty()) {
            script.remove().run();
        }
        if (toCome == 0 || free.isEmpty()) {
            return null;
        }
        toCome--;
        // Fails on a device that broke: then nothing was handed out.
        final Place frame = free.remove().fill(nextId++);
        framesHeld++;
        return frame;
    }

    @Override
    public State state() {
        return ended && toCome == 0 && script.isEmpty() ? endState : State.READY;
    }

    @Override
    public DeviceBackend device() {
        return device;
    }

    @Override
    public void onLoss(final LossHandler handler) {
        onLoss = handler;
    }

    @Override
    public void onSource(final SourceHandler handler) {
        onSource = handler;
    }

    @Override
    public void close() {
        for (final Place place : places) {
            place.event.close();
            device.free(place.memory);
            device.freePinned(place.source);
        }
        stream.close();
    }

    private final class Place implements DeviceFrame {
        private final DeviceRegion memory = device.allocate(frameBytes);
        private final MemorySegment source = device.allocatePinned(frameBytes);
        private final DeviceEvent event = device.openEvent();
        private long id;
        private boolean held;

        Place fill(final long frameId) {
            id = frameId;
            held = true;
            for (int i = 0; i < frameBytes; i++) {
                source.set(ValueLayout.JAVA_BYTE, i, pattern(frameId, i));
            }
            stream.copyToDevice(memory.address(), source, 0, frameBytes);
            stream.record(event);
            return this;
        }

        @Override
        public void close() {
            if (held) {
                held = false;
                framesHeld--;
                free.add(this);
            }
        }

        @Override
        public long session() {
            return session;
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
            return frameBytes;
        }

        @Override
        public boolean keyframe() {
            return id % 10 == 0;
        }

        @Override
        public long sourceTimestampNs() {
            return id * 1000;
        }

        @Override
        public byte[] metadata() {
            return new byte[0];
        }

        @Override
        public int tag() {
            return (int) (id % 3);
        }

        @Override
        public DeviceEvent ready() {
            return event;
        }

        @Override
        public void awaitReady() {
            event.synchronize();
        }

        @Override
        public void release(final DeviceStream on) {
            throw new UnsupportedOperationException();
        }
    }

    @Override
    public Channel channel() {
        throw new UnsupportedOperationException();
    }

    @Override
    public Optional<String> failure() {
        return Optional.empty();
    }

    @Override
    public int poll(final FrameHandler handler, final int limit) {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean awaitFrame(final Duration longest) {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean post(final DeviceRegion region) {
        return false;
    }

    @Override
    public SubscriberStats stats() {
        return new SubscriberStats(0, 0, 0, 0, 0, 0, LossCounts.NONE, 0, 0);
    }
}
