package io.framecast.engine.sink;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceEvent;
import io.framecast.api.spi.DeviceStream;
import io.framecast.engine.memory.RollbackOnFailure;
import java.util.Arrays;
import org.agrona.CloseHelper;

/// A device's stream, and the progress of copies on it: each mark is an event behind a batch of copies. Marks beyond
/// the
/// bound are merged into the newest. One thread.
final class StreamCopies implements AutoCloseable {
    private static final int MARKS_MAX = 32;

    private final DeviceStream stream;
    private final DeviceEvent[] events = new DeviceEvent[MARKS_MAX];
    // Copies begun when the mark was set, by mark.
    private final long[] counts = new long[MARKS_MAX];
    private long head;
    private long tail;
    private long completed;
    private boolean unmarked;

    StreamCopies(final DeviceBackend device) {
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            stream = opened.add(device.openStream());
            Arrays.setAll(events, _ -> opened.add(device.openEvent()));
            opened.keep();
        }
    }

    DeviceStream stream() {
        return stream;
    }

    /// A copy was enqueued.
    void onCopy() {
        unmarked = true;
    }

    /// Assigns all copies enqueued so far to the first `count` copies.
    void mark(final long count) {
        if (!unmarked) {
            return;
        }
        unmarked = false;
        if (tail - head == MARKS_MAX) {
            tail--;
        }
        counts[index(tail)] = count;
        stream.record(events[index(tail)]);
        tail++;
    }

    /// Copies beyond the first `count` move to the stream: they are unfinished until the next mark.
    void reopen(final long count) {
        completed = Math.min(completed, count);
        for (long mark = head; mark < tail; mark++) {
            counts[index(mark)] = Math.min(counts[index(mark)], count);
        }
    }

    /// Whether no copy is in flight.
    boolean isIdle() {
        look();
        return head == tail && !unmarked;
    }

    /// How many of the copies, counted from the first, have completed.
    ///
    /// @param submitted copies begun so far
    long completed(final long submitted) {
        look();
        return head == tail && !unmarked ? submitted : completed;
    }

    private void look() {
        while (head < tail && events[index(head)].isComplete()) {
            completed = counts[index(head)];
            head++;
        }
    }

    private static int index(final long mark) {
        return (int) mark & MARKS_MAX - 1;
    }

    /// The stream closes first, for it waits for its copies.
    @Override
    public void close() {
        CloseHelper.closeAll(stream, () -> CloseHelper.closeAll(events));
    }
}
