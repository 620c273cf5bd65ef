package io.framecast.gpu.arrival;

import io.framecast.api.Arrival;
import io.framecast.api.ArrivalOptions;
import io.framecast.api.ArrivalStats;
import io.framecast.api.DeviceFrame;
import io.framecast.api.Subscriber;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.KernelSource;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/// Subscribers on one end, a kernel on the other, an [ArrivalRing] between. Works on any device whose kernels
/// see pinned host memory at the host's address, as CUDA's unified addressing makes it.
public final class FrameArrival implements Arrival {
    private final DeviceBackend device;
    private final ArrivalOptions options;
    private final MemorySegment area;
    private final ArrivalRing ring;
    private final KernelRun kernel;
    private final IntConsumer giveBack = this::giveBack;
    private final List<Attachment> attachments = new ArrayList<>();
    private final ArrivalRecord record = new ArrivalRecord();
    private final Pause pause = new Pause();

    // [slot] frames that the device has; events hold none.
    private final @Nullable DeviceFrame[] held;
    private long returned;
    private boolean closing;
    private boolean deviceGone;
    private boolean closed;

    /// @param device is left open
    public FrameArrival(final DeviceBackend device, final ArrivalOptions options) {
        this.device = device;
        this.options = options;
        area = device.allocatePinned(ArrivalLayout.areaBytes(options.entries()));
        area.fill((byte) 0);
        ring = new ArrivalRing(area, options.entries(), 0);
        held = new DeviceFrame[options.entries()];
        try {
            kernel = new KernelRun(device);
        } catch (final RuntimeException e) {
            device.freePinned(area);
            throw e;
        }
    }

    @Override
    public long address() {
        return area.address();
    }

    @Override
    public void attach(final Subscriber subscriber, final int channel) {
        requireOpen();
        if (channel < 0 || channel >= CHANNELS_MAX) {
            throw new IllegalArgumentException(
                    "arrival channel: expected 0 … " + (CHANNELS_MAX - 1) + ", got " + channel);
        }
        if (attachments.stream().anyMatch(other -> other.channel() == channel)) {
            throw new IllegalArgumentException("arrival channel " + channel + ": taken; give each subscriber its own");
        }
        final String other = subscriber.device().name();
        if (!other.equals(device.name())) {
            throw new IllegalArgumentException("arrival on " + device.name() + ": the subscriber's frames land on "
                    + other + "; subscribe with device=" + device.name());
        }
        attachments.add(new Attachment(subscriber, channel));
    }

    @Override
    public void launch(
            final KernelSource source, final int gridBlocks, final int blockThreads, final long... arguments) {
        requireOpen();
        if (!source.persistent()) {
            throw new IllegalArgumentException(
                    "kernel " + source.name() + ": expected a persistent one; make it by KernelSource.persistent");
        }
        if (isRunning()) {
            throw new IllegalStateException("kernel " + kernel.name() + " is running; drain it first");
        }
        ring.collect(giveBack);
        final long[] all = new long[arguments.length + 1];
        all[0] = address();
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        final long stateBytes = ArrivalLayout.stateBytes(options.entries(), gridBlocks);
        ring.resume(gridBlocks, kernel.state(stateBytes).address());
        kernel.launch(source, stateBytes, gridBlocks, blockThreads, all);
    }

    @Override
    public boolean isRunning() {
        return !closed && kernel.isRunning();
    }

    @Override
    public int doWork() {
        if (closed || !area.scope().isAlive()) {
            return 0;
        }
        int work = ring.collect(giveBack);
        if (!closing) {
            for (int i = 0; i < attachments.size(); i++) {
                work += attachments.get(i).work(ring, record, held);
            }
        }
        return work;
    }

    private void giveBack(final int slot) {
        returned++;
        final DeviceFrame frame = held[slot];
        if (frame != null) {
            held[slot] = null;
            frame.close();
        }
    }

    @Override
    public boolean serve(final Duration longest) {
        return pause.await(this::isOver, this::doWork, longest.toNanos());
    }

    private boolean isOver() {
        for (int i = 0; i < attachments.size(); i++) {
            if (!attachments.get(i).isOver()) {
                return false;
            }
        }
        return closed || ring.outstanding() == 0;
    }

    @Override
    public ArrivalStats stats() {
        long frames = 0;
        long events = 0;
        long lost = 0;
        long merged = 0;
        for (final Attachment attachment : attachments) {
            frames += attachment.frames();
            events += attachment.events();
            lost += attachment.lostFrames();
            merged += attachment.merged();
        }
        return new ArrivalStats(frames, events, returned, ring.outstanding(), lost, merged);
    }

    @Override
    public boolean drain(final Duration longest) {
        return closed || end(ArrivalLayout.STOP_DRAIN, longest.toNanos());
    }

    private boolean end(final int wish, final long longestNs) {
        ring.stop(wish);
        final boolean ended = pause.await(() -> !isRunning(), () -> ring.collect(giveBack), longestNs);
        ring.collect(giveBack);
        return ended;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closing = true;
        if (!hasEnded()) {
            throw new DeviceException(device.name() + ": kernel " + kernel.name() + " did not end within "
                    + options.closeTimeoutMs() + " ms after it was asked to and holds " + ring.outstanding()
                    + " entries; it must call fc_wait or fc_stopping again and return when they say so");
        }
        closed = true;
        try {
            free();
        } finally {
            // Last: where the subscriber is closed already, its device goes with the last frame.
            ring.abandon(giveBack);
            attachments.forEach(Attachment::close);
        }
    }

    private void free() {
        try {
            try {
                kernel.close();
            } finally {
                device.freePinned(area);
            }
        } catch (final DeviceException e) {
            // Of a device that failed, or was closed before this, nothing is left to free.
            if (!deviceGone) {
                throw e;
            }
        }
    }

    // A kernel that failed has ended too, and so has one whose device was closed.
    private boolean hasEnded() {
        deviceGone = !area.scope().isAlive();
        try {
            return deviceGone || end(ArrivalLayout.STOP_NOW, TimeUnit.MILLISECONDS.toNanos(options.closeTimeoutMs()));
        } catch (final DeviceException _) {
            deviceGone = true;
            return true;
        }
    }

    private void requireOpen() {
        if (closing) {
            throw new DeviceException(device.name() + ": the arrival ring is closed; open another");
        }
    }
}
