package io.framecast.engine.subscribe;

import io.framecast.api.Arrival;
import io.framecast.api.DeviceFrame;
import io.framecast.api.format.FrameFormat;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.reliability.receive.ReceivedFrame;
import io.framecast.reliability.window.StreamFormat;
import io.framecast.reliability.wire.DataLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A frame object, filled by the receiver's thread, read and released by the subscriber's, then filled again. Its
/// fields cross in the two queues between these threads.
final class EngineFrame implements DeviceFrame {
    private static final byte[] NO_METADATA = new byte[0];
    private static final VarHandle HELD;

    static {
        try {
            HELD = MethodHandles.lookup().findVarHandle(EngineFrame.class, "held", boolean.class);
        } catch (final ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final long session;
    private final SessionQueue returns;
    private final EngineSubscriber subscriber;
    private final DeviceEvent ready;
    private final DeviceEvent consumed;
    private DeviceRegion region = DeviceRegion.ofDevice(0, 1);
    private long frameId;
    private long timestampNs;
    private int flags;
    private byte[] metadata = NO_METADATA;
    private byte @Nullable [] format;
    private long place;
    // The user's buffer that was posted for the frame.
    private PostedBuffers.@Nullable Posted buffer;
    private boolean unseen;
    private boolean inPlace;
    private boolean awaitsStream;
    // Cleared through its handle by the thread that releases the frame; only one of several callers succeeds.
    private volatile boolean held;

    EngineFrame(final long session, final EngineSubscriber subscriber, final SessionQueue returns) {
        this.session = session;
        this.subscriber = subscriber;
        this.returns = returns;
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            ready = opened.add(subscriber.device().openEvent());
            consumed = opened.add(subscriber.device().openEvent());
            opened.keep();
        }
    }

    /// @param untouched whether the frame's bytes lie where they were first received
    void fill(final ReceivedFrame frame, final DeviceRegion memory, final boolean untouched) {
        frameId = frame.frameId();
        timestampNs = frame.timestampNs();
        flags = frame.flags();
        final byte @Nullable [] bytes = frame.metadata();
        metadata = bytes == null ? NO_METADATA : bytes;
        final StreamFormat described = frame.format();
        format = described == null ? null : described.bytes();
        region = memory;
        inPlace = untouched;
        awaitsStream = false;
    }

    /// Subscriber: takes the frame out of the queue. The mark is set only here: until then, a second close of the
    /// frame that this object carried before must find nothing to return.
    EngineFrame take() {
        // The queue has already made the other fields visible.
        HELD.setRelease(this, true);
        return this;
    }

    /// Records the slots that the frame holds until its release, and the user's buffer that it lies in.
    void held(final long ringPlace, final PostedBuffers.@Nullable Posted posted) {
        place = ringPlace;
        buffer = posted;
        unseen = true;
    }

    /// The buffer posted for the frame, where the user never received the frame.
    PostedBuffers.@Nullable Posted unusedBuffer() {
        return unseen ? buffer : null;
    }

    /// Subscriber: the user receives the frame.
    void given() {
        unseen = false;
    }

    long place() {
        return place;
    }

    /// Whether the frame's bytes lie where they were first received.
    boolean inPlace() {
        return inPlace;
    }

    /// Whether the stream that the frame was released on has completed its work.
    boolean isConsumed() {
        return !awaitsStream || consumed.isComplete();
    }

    @Override
    public long session() {
        return session;
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
        return (flags & DataLayout.FLAG_KEYFRAME) != 0;
    }

    @Override
    public long sourceTimestampNs() {
        return timestampNs;
    }

    @Override
    public long clockOffsetNs() {
        return returns.clock().hostOffsetNs();
    }

    @Override
    public long clockErrorNs() {
        return returns.clock().boundNs();
    }

    @Override
    public Optional<FrameFormat> format() {
        return subscriber.formats().decode(format);
    }

    @Override
    public byte[] metadata() {
        return metadata.clone();
    }

    @Override
    public int tag() {
        return Arrival.tag(metadata);
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
    public DeviceStream stream() {
        return subscriber.streamBehind(ready);
    }

    @Override
    public void release(final DeviceStream stream) {
        if (!takeHold()) {
            return;
        }
        try {
            stream.record(consumed);
        } catch (final RuntimeException e) {
            // The frame is still the user's, who must close it.
            held = true;
            throw e;
        }
        awaitsStream = true;
        if (buffer != null) {
            buffer.releaseAfter(consumed);
        }
        returns.giveBack(this);
    }

    @Override
    public void close() {
        if (takeHold()) {
            if (buffer != null && !unseen) {
                buffer.release();
            }
            returns.giveBack(this);
        }
    }

    private boolean takeHold() {
        return held && HELD.compareAndSet(this, true, false);
    }

    /// Receiver: no work of the user reads the frame any more.
    void onRecycled() {
        if (buffer != null && !unseen) {
            buffer.release();
        }
        buffer = null;
    }

    void closeEvents() {
        ready.close();
        consumed.close();
    }
}
