package io.framecast.reliability.assembly;

/// Finds the slots of a queue that no copy reads: each mark joins the number of slots taken so far with the number
/// of copies begun so far. Marks beyond the bound are merged into the newest.
///
/// Pure state; one thread.
public final class CopyLedger {
    private static final int MARKS_MAX = 32;

    private final long[] taken = new long[MARKS_MAX];
    private final long[] copies = new long[MARKS_MAX];
    private long head;
    private long tail;
    private long free;

    /// The first `slotsTaken` slots are read by the first `submitted` copies at most.
    public void mark(final long slotsTaken, final long submitted) {
        if (tail > head && copies[index(tail - 1)] == submitted) {
            taken[index(tail - 1)] = slotsTaken;
            return;
        }
        if (tail - head == MARKS_MAX) {
            tail--;
        }
        taken[index(tail)] = slotsTaken;
        copies[index(tail)] = submitted;
        tail++;
    }

    /// Number of slots, from the first ever taken on, that no copy reads any more.
    ///
    /// @param slotsTaken so far: all of them are free where no mark is left
    /// @param completed copies that have ended
    public long free(final long slotsTaken, final long completed) {
        while (head < tail && copies[index(head)] <= completed) {
            free = taken[index(head)];
            head++;
        }
        return head == tail ? slotsTaken : free;
    }

    private static int index(final long mark) {
        return (int) mark & MARKS_MAX - 1;
    }
}
