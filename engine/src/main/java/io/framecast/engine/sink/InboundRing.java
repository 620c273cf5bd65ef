package io.framecast.engine.sink;

import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.TransportCapabilities.Placement;

/// Keeps a lane supplied with slots that are used in order of arrival, whatever arrives: repair and control
/// lanes, and landing memory from which payloads are copied on. Works alike on FIFO lanes (freed slots are
/// appended) and AIMED ones (all free slots are posted anew). One thread.
public final class InboundRing {
    private final int slots;
    private long consumed;
    private long freed;
    private long posted;

    public InboundRing(final int slots) {
        this.slots = slots;
    }

    /// Posts what is free and takes what has arrived.
    public int poll(final Lane lane, final Placement placement, final Completions completions) {
        final long limit = freed + slots;
        switch (placement) {
            case FIFO -> {
                if (posted < limit) {
                    posted += lane.post((int) (posted % slots), (int) (limit - posted));
                }
            }
            case AIMED -> {
                if (consumed == limit) {
                    return 0;
                }
                lane.post((int) (consumed % slots), (int) Math.min(limit - consumed, completions.capacity()));
            }
        }
        completions.clear();
        final int count = lane.poll(completions);
        consumed += count;
        return count;
    }

    /// Slots taken so far; the slot of the i-th is i mod slots.
    public long consumed() {
        return consumed;
    }

    /// The first `count` slots ever taken may be used again.
    public void freeUpTo(final long count) {
        freed = Math.max(freed, count);
    }

    public boolean isFull() {
        return consumed == freed + slots;
    }
}
