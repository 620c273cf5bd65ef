package io.framecast.engine.hostgroup;

import io.framecast.api.DeviceFrame;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import java.util.concurrent.atomic.AtomicBoolean;

/// A frame in its leader's ring.
final class FollowerFrame implements DeviceFrame {
    private final FollowerSegment segment;
    private final long number;
    private final FollowerSubscriber subscriber;
    private final DeviceRegion region;
    private final AtomicBoolean released = new AtomicBoolean();

    FollowerFrame(final FollowerSegment segment, final long number, final FollowerSubscriber subscriber) {
        this.segment = segment;
        this.number = number;
        this.subscriber = subscriber;
        region = DeviceRegion.ofHost(segment.frame(number));
        segment.hold();
    }

    @Override
    public long session() {
        return segment.session();
    }

    @Override
    public long frameId() {
        return segment.frameId(number);
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
        return segment.isKeyframe(number);
    }

    @Override
    public long sourceTimestampNs() {
        return segment.timestampNs(number);
    }

    @Override
    public long clockOffsetNs() {
        return segment.clockOffsetNs();
    }

    @Override
    public long clockErrorNs() {
        return segment.clockErrorNs();
    }

    @Override
    public byte[] metadata() {
        return segment.metadata(number);
    }

    @Override
    public DeviceEvent ready() {
        return subscriber.complete();
    }

    @Override
    public void awaitReady() {
        subscriber.complete().synchronize();
    }

    @Override
    public DeviceStream stream() {
        return subscriber.stream();
    }

    // Host memory: the work on a stream is done when its call returns.
    @Override
    public void release(final DeviceStream stream) {
        stream.synchronize();
        close();
    }

    @Override
    public void close() {
        if (released.compareAndSet(false, true)) {
            segment.release(number, region.bytes(), true);
        }
    }
}
