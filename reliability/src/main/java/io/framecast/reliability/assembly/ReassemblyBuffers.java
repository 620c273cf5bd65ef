package io.framecast.reliability.assembly;

import java.util.Arrays;

/// The reassembly buffers of one ring, and the frames that wait for one. The oldest incomplete frame may take the
/// last buffer, a later one only when another stays free, and the number of later ones is limited. Otherwise the
/// oldest frame would wait for later frames, or for a frame that a waiting user holds.
///
/// Pure state; one thread; allocates only in its constructor.
final class ReassemblyBuffers {
    /// Frames that wait at a time. Beyond the limit the latest is forgotten, and repeats its requests by its own
    /// back-off.
    static final int WAITING_MAX = 64;

    private static final long FREE = -1;

    // By buffer: the first sequence of the frame that it is being filled for, or FREE.
    private final long[] filling;
    private final boolean[] held;
    private final int laterMax;
    private int free;
    private int heldCount;
    // First sequences, ascending, of frames whose repairs found no buffer.
    private final long[] waiting = new long[WAITING_MAX];
    // Their lengths.
    private final long[] waitingSlots = new long[WAITING_MAX];
    private int waitingCount;
    private long givenSlots;

    /// @param laterMax buffers that frames behind the oldest incomplete one may have at a time
    ReassemblyBuffers(final int buffers, final int laterMax) {
        this.laterMax = laterMax;
        filling = new long[buffers];
        held = new boolean[buffers];
        free = buffers;
        Arrays.fill(filling, FREE);
    }

    /// The buffer in which a frame is being assembled, or [ArrivalPlacement#NONE].
    int find(final long firstSequence) {
        for (int b = 0; b < filling.length; b++) {
            if (filling[b] == firstSequence) {
                return b;
            }
        }
        return ArrivalPlacement.NONE;
    }

    /// Finds the frame's buffer, or takes one for it.
    ///
    /// @param nextFirst first sequence of the oldest incomplete frame
    /// @return the buffer, or [ArrivalPlacement#NONE]
    int take(final long firstSequence, final long nextFirst) {
        final int found = find(firstSequence);
        final boolean oldest = firstSequence == nextFirst;
        if (found != ArrivalPlacement.NONE || free < (oldest ? 1 : 2) || (!oldest && later(nextFirst) == laterMax)) {
            return found;
        }
        for (int b = 0; b < filling.length; b++) {
            if (filling[b] == FREE && !held[b]) {
                filling[b] = firstSequence;
                free--;
                return b;
            }
        }
        return ArrivalPlacement.NONE;
    }

    private int later(final long nextFirst) {
        int count = 0;
        for (final long first : filling) {
            count += first != FREE && first != nextFirst ? 1 : 0;
        }
        return count;
    }

    /// Remembers a frame that found no buffer.
    void await(final long firstSequence, final long slots) {
        final int at = Arrays.binarySearch(waiting, 0, waitingCount, firstSequence);
        final int insert = -1 - at;
        if (at >= 0 || insert == WAITING_MAX) {
            return;
        }
        waitingCount = Math.min(waitingCount + 1, WAITING_MAX);
        System.arraycopy(waiting, insert, waiting, insert + 1, waitingCount - insert - 1);
        System.arraycopy(waitingSlots, insert, waitingSlots, insert + 1, waitingCount - insert - 1);
        waiting[insert] = firstSequence;
        waitingSlots[insert] = slots;
    }

    /// Whether the frame is in the list of those that wait for a buffer.
    boolean isWaiting(final long firstSequence) {
        return Arrays.binarySearch(waiting, 0, waitingCount, firstSequence) >= 0;
    }

    /// Takes a buffer for the first of the frames that wait.
    ///
    /// @param nextFirst first sequence of the oldest incomplete frame
    /// @return that frame's first sequence, or [ArrivalPlacement#NONE] when no frame waits or there is no buffer
    long takeForWaiting(final long nextFirst) {
        if (waitingCount == 0 || take(waiting[0], nextFirst) == ArrivalPlacement.NONE) {
            return ArrivalPlacement.NONE;
        }
        final long first = waiting[0];
        givenSlots = waitingSlots[0];
        forget(1);
        return first;
    }

    private void forget(final int count) {
        System.arraycopy(waiting, count, waiting, 0, waitingCount - count);
        System.arraycopy(waitingSlots, count, waitingSlots, 0, waitingCount - count);
        waitingCount -= count;
    }

    /// Length of the frame that [#takeForWaiting] served last.
    long givenSlots() {
        return givenSlots;
    }

    /// The frame goes to the user in this buffer.
    void hold(final int buffer) {
        filling[buffer] = FREE;
        held[buffer] = true;
        heldCount++;
    }

    void release(final int buffer) {
        if (!held[buffer]) {
            throw new IllegalStateException("reassembly buffer " + buffer + " is not held");
        }
        held[buffer] = false;
        heldCount--;
        free++;
    }

    /// Earlier frames are over. A false header could have taken a buffer for a frame that never exists.
    void dropBefore(final long firstSequence) {
        for (int b = 0; b < filling.length; b++) {
            if (filling[b] != FREE && filling[b] < firstSequence) {
                filling[b] = FREE;
                free++;
            }
        }
        int passed = 0;
        while (passed < waitingCount && waiting[passed] < firstSequence) {
            passed++;
        }
        forget(passed);
    }

    /// Frames that can be assembled at a time, including those in progress: the oldest, and later ones in buffers
    /// that are not held.
    int room() {
        return Math.max(1, Math.min(1 + laterMax, filling.length - heldCount));
    }

    /// Neither taken nor held.
    int free() {
        return free;
    }
}
