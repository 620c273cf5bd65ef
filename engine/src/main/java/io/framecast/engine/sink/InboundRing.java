package io.framecast.engine.sink;

import io.framecast.api.spi.Completions;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.TransportCapabilities.Placement;

/// Keeps a lane supplied with slots that are used in order of arrival, whatever arrives: repair and control
/// lanes, and landing memory from which payloads are copied on. Works alike on FIFO lanes (freed slots are
/// appended) and AIMED ones (all free slots are posted anew). One thread.
public final class InboundRing {
    private final int slots;
    // By number of the datagram, modulo slots: where it landed. A FIFO lane that dropped a datagram has
    // posted its slot
    // again behind the others, and so slots need not come in the ring's order.
    private final int[] order;
    private long consumed;
    private long freed;
    private long posted;

    public InboundRing(final int slots) {
        this.slots = slots;
        order = new int[slots];
        java.util.Arrays.setAll(order, i -> i);
    }

    /// Posts what is free and takes what has arrived.
    public int poll(final Lane lane, final Placement placement, final Completions completions) {
        switch (placement) {
            case BY_ARRIVAL -> append(lane);
            case BY_SEQUENCE -> {
                final long limit = freed + slots;
                if (consumed == limit) {
                    return 0;
                }
                lane.post((int) (consumed % slots), (int) Math.min(limit - consumed, completions.capacity()));
            }
        }
        completions.clear();
        final int count = lane.poll(completions);
        for (int i = 0; i < count; i++) {
            order[(int) ((consumed + i) % slots)] = completions.slot(i);
        }
        consumed += count;
        return count;
    }

    private void append(final Lane lane) {
        final long limit = freed + slots;
        while (posted < limit) {
            final int first = order[(int) (posted % slots)];
            int run = 1;
            while (posted + run < limit && order[(int) ((posted + run) % slots)] == (first + run) % slots) {
                run++;
            }
            final int accepted = lane.post(first, run);
            posted += accepted;
            if (accepted < run) {
                return;
            }
        }
    }

    /// Slots taken so far.
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
