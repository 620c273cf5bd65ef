package io.framecast.engine.memory;

import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceResources;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/// Always complete, because a host stream does its work when it is enqueued. The event carries visibility: a
/// recording is a release store and a query an acquire load. A thread that queries sees the work of the thread that
/// recorded.
final class HostEvent implements DeviceEvent {
    private final AtomicLong recordings = new AtomicLong();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final DeviceResources resources;

    /// @param resources in which this event was counted
    HostEvent(final DeviceResources resources) {
        this.resources = resources;
    }

    void publish() {
        recordings.setRelease(recordings.getPlain() + 1);
    }

    @Override
    public boolean isComplete() {
        return recordings.getAcquire() >= 0;
    }

    @Override
    public void synchronize() {
        if (!isComplete()) {
            throw new IllegalStateException("a host event is always complete");
        }
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            resources.give(DeviceResources.Kind.EVENTS, 1);
        }
    }
}
