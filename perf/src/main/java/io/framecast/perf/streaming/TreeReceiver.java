package io.framecast.perf.streaming;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceStream;
import io.framecast.perf.harness.FrameContent;
import io.framecast.perf.harness.FrameContent.Stamp;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.jspecify.annotations.Nullable;

/// One hop of a tree: takes frames chunk by chunk, has each copied into the device and passes it on. Another
/// thread waits for the copies of whole frames and acknowledges them.
final class TreeReceiver implements AutoCloseable {
    private static final int SLOTS = 4;

    private final DeviceBackend device;
    private final TreeLinks links;
    private final StreamingMeter meter;
    private final DeviceStream stream;
    private final DeviceRegion region;
    private final MemorySegment staging;
    private final List<DeviceEvent> slotEvents = new ArrayList<>();
    private final List<DeviceEvent> frameEvents = new ArrayList<>();
    private final BlockingQueue<Integer> arrived;
    private final int frameBytes;
    private final int chunkBytes;
    private volatile @Nullable Throwable failure;

    TreeReceiver(
            final StreamingSpec spec, final DeviceBackend device, final TreeLinks links, final StreamingMeter meter) {
        this.device = device;
        this.links = links;
        this.meter = meter;
        frameBytes = spec.frameBytes();
        chunkBytes = spec.chunkBytes();
        // The source sends a frame only when all but so many before it were acknowledged.
        final int frames = spec.plan().inFlight() + 1;
        arrived = new ArrayBlockingQueue<>(frames);
        stream = device.openStream();
        region = device.allocate((long) frames * frameBytes);
        staging = device.allocatePinned((long) SLOTS * chunkBytes);
        links.use(device.hostAddressable() ? region.host() : staging);
        for (int i = 0; i < SLOTS; i++) {
            slotEvents.add(device.openEvent());
        }
        for (int i = 0; i < frames; i++) {
            frameEvents.add(device.openEvent());
        }
    }

    /// Until the last frame is in the device.
    void run() throws IOException {
        final Thread finishing =
                Thread.ofPlatform().daemon().name("frames-in-device").start(this::finish);
        try {
            boolean last = false;
            for (int frame = 0; !last; frame = (frame + 1) % frameEvents.size()) {
                last = take(frame);
                stream.record(frameEvents.get(frame));
                arrived.put(frame);
            }
            links.flush();
            finishing.join();
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        } catch (final IOException e) {
            rethrow();
            throw e;
        } finally {
            finishing.interrupt();
        }
        rethrow();
    }

    private void rethrow() {
        final Throwable why = failure;
        if (why instanceof RuntimeException own) {
            throw own;
        }
        if (why instanceof Error own) {
            throw own;
        }
    }

    /// @return whether it was the last
    private boolean take(final int frame) throws IOException {
        boolean last = false;
        int slot = 0;
        for (int offset = 0; offset < frameBytes; offset += chunkBytes) {
            final int length = Math.min(chunkBytes, frameBytes - offset);
            final MemorySegment part;
            if (device.hostAddressable()) {
                part = region.slice((long) frame * frameBytes + offset, length).host();
                links.read(part);
            } else {
                slotEvents.get(slot).synchronize();
                part = staging.asSlice((long) slot * chunkBytes, length);
                links.read(part);
                stream.copyToDevice(region.address() + (long) frame * frameBytes + offset, part, 0, length);
                stream.record(slotEvents.get(slot));
                slot = (slot + 1) % SLOTS;
            }
            if (offset == 0) {
                last = FrameContent.read(part, 0).is(Stamp.LAST);
            }
            links.write(part);
        }
        return last;
    }

    private void finish() {
        try {
            boolean last = false;
            while (!last) {
                final int frame = arrived.take();
                frameEvents.get(frame).synchronize();
                last = meter.onFrame(region.slice((long) frame * frameBytes, frameBytes), System.nanoTime());
            }
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (final RuntimeException | Error e) {
            failure = e;
            links.interrupt();
        }
    }

    @Override
    public void close() {
        stream.close();
        slotEvents.forEach(DeviceEvent::close);
        frameEvents.forEach(DeviceEvent::close);
        device.freePinned(staging);
        device.free(region);
    }
}
