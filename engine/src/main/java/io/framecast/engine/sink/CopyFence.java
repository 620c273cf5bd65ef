package io.framecast.engine.sink;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceStream;
import java.util.Arrays;

/// Tells how far the asynchronous copies out of a ring have come: each mark is an event behind the copies of one batch,
/// with the number of slots taken by then. Marks beyond the bound are merged into the newest. One thread.
final class CopyFence implements AutoCloseable {
    private static final int MARKS_MAX = 32;

    private final DeviceEvent[] events = new DeviceEvent[MARKS_MAX];
    private final long[] counts = new long[MARKS_MAX];
    private long head;
    private long tail;
    private long completed;

    CopyFence(final DeviceBackend device) {
        try (Opened opened = new Opened()) {
            Arrays.setAll(events, _ -> opened.add(device.openEvent()));
            opened.keep();
        }
    }

    /// Everything copied on `stream` so far came out of the first `count` slots.
    void mark(final DeviceStream stream, final long count) {
        if (tail - head == MARKS_MAX) {
            tail--;
        }
        final int index = (int) tail & MARKS_MAX - 1;
        counts[index] = count;
        stream.record(events[index]);
        tail++;
    }

    /// Whether copies that were marked are not known to be done.
    boolean isPending() {
        return head < tail;
    }

    /// Slots whose copies are done.
    long completed() {
        while (head < tail && events[(int) head & MARKS_MAX - 1].isComplete()) {
            completed = counts[(int) head & MARKS_MAX - 1];
            head++;
        }
        return completed;
    }

    @Override
    public void close() {
        for (final DeviceEvent event : events) {
            event.close();
        }
    }
}
