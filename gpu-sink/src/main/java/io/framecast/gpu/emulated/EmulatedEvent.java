package io.framecast.gpu.emulated;

import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceResources;
import java.util.concurrent.atomic.AtomicBoolean;

/// A place in a stream: complete when the stream's DMA got that far. Recording needs no command and
/// completing no work.
final class EmulatedEvent implements DeviceEvent {
    // Stream slot + 1 in the upper 16 bits, position in that slot's ring in the lower 48; one word, so that a reader
    // never pairs the slot of one recording with the position of another.
    private static final int POSITION_BITS = 48;
    private static final long POSITION_MASK = (1L << POSITION_BITS) - 1;
    static final long NEVER = 0;

    private final EmulatedDevice device;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile long mark = NEVER;

    EmulatedEvent(final EmulatedDevice device) {
        this.device = device;
    }

    static int slotOf(final long mark) {
        return (int) (mark >>> POSITION_BITS) - 1;
    }

    static long positionOf(final long mark) {
        return mark & POSITION_MASK;
    }

    EmulatedDevice device() {
        return device;
    }

    long mark() {
        return mark;
    }

    void mark(final int slot, final long position) {
        mark = (long) (slot + 1) << POSITION_BITS | position;
    }

    @Override
    public boolean isComplete() {
        // In this order: when the device broke, everything counts as done.
        final boolean reached = device.dma().isReached(mark);
        device.checkUsable();
        return reached;
    }

    @Override
    public void synchronize() {
        device.checkUsable();
        device.dma().awaitMark(mark);
        device.checkUsable();
    }

    @Override
    public void close() {
        mark = NEVER;
        if (closed.compareAndSet(false, true)) {
            device.resources().give(DeviceResources.Kind.EVENTS, 1);
        }
    }
}
