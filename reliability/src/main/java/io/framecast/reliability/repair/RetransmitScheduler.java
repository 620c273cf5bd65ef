package io.framecast.reliability.repair;

import io.framecast.reliability.window.SendWindow;

/// The sequences that a source sends again, and their destinations: one requester by unicast, several by multicast.
/// A sequence that was resent less than a round trip ago is not resent. The queue holds each sequence once, so the
/// window bounds it.
///
/// Pure state; one thread. Times are nanoseconds since the engine's start.
public final class RetransmitScheduler {
    /// Destination of a sequence with several requesters.
    public static final int EVERYBODY = -2;

    private static final int NO_REQUESTER = -1;

    /// Sends repairs.
    public interface Output {
        /// Sends `count` consecutive sequences.
        ///
        /// @param member a member's index, or [#EVERYBODY]
        /// @return how many were accepted
        int repair(int member, long firstSequence, int count);
    }

    /// Datagrams in one [Output#repair] call.
    static final int RUN_MAX = 64;
    /// Runs refused one after another before the lane counts as full.
    static final int REFUSALS_MAX = 4;

    private final SendWindow window;
    private final int[] requesters;
    private final long[] resentNs;
    private final int[] resentTo;
    private final long[] queue;
    private long head;
    private long tail;

    /// Makes a scheduler for the sequences of a window.
    public RetransmitScheduler(final SendWindow window) {
        this.window = window;
        requesters = new int[window.slots()];
        resentNs = new long[window.slots()];
        resentTo = new int[window.slots()];
        queue = new long[window.slots()];
        java.util.Arrays.fill(requesters, NO_REQUESTER);
        java.util.Arrays.fill(resentNs, Long.MIN_VALUE);
    }

    /// A sequence was sent for the first time: the past of its slot does not count.
    public void onSent(final long sequence) {
        resentNs[window.slot(sequence)] = Long.MIN_VALUE;
    }

    /// Requests a sequence inside the window.
    ///
    /// @param holdOffNs a sequence resent less than this ago is not queued again
    /// @return whether it is queued now and was not before
    public boolean request(final int member, final long sequence, final long nowNs, final long holdOffNs) {
        final int slot = window.slot(sequence);
        if (requesters[slot] != NO_REQUESTER) {
            requesters[slot] = requesters[slot] == member ? member : EVERYBODY;
            return false;
        }
        // A repair on its way to another member does not help this one.
        if (resentNs[slot] != Long.MIN_VALUE
                && (resentTo[slot] == EVERYBODY || resentTo[slot] == member)
                && nowNs - resentNs[slot] < holdOffNs) {
            return false;
        }
        if (tail - head == queue.length) {
            return false;
        }
        requesters[slot] = member;
        queue[(int) (tail++ & queue.length - 1)] = sequence;
        return true;
    }

    public boolean isEmpty() {
        return head == tail;
    }

    /// Sends from the queue, runs of consecutive sequences together. Refused runs go to the queue's end, so that a
    /// member that takes no repairs does not hold up other members. A lane that refuses run after run is
    /// full for all
    /// members.
    ///
    /// @param datagramsMax most datagrams to send now
    /// @return datagrams sent
    public int drain(final int datagramsMax, final long nowNs, final Output output) {
        int sent = 0;
        int refusals = 0;
        // Each entry is seen once: entries that were put back wait for the next call.
        final long end = tail;
        while (head < end && sent < datagramsMax && refusals < REFUSALS_MAX) {
            final long first = queue[(int) (head & queue.length - 1)];
            if (first < window.freed()) {
                forget(first);
                continue;
            }
            final int member = requesters[window.slot(first)];
            final int run = runLength(first, member, (int) Math.min(datagramsMax - sent, end - head));
            final int accepted = output.repair(member, first, run);
            for (int i = 0; i < accepted; i++) {
                resentNs[window.slot(first + i)] = nowNs;
                resentTo[window.slot(first + i)] = member;
                forget(first + i);
            }
            for (int i = accepted; i < run; i++) {
                head++;
                queue[(int) (tail++ & queue.length - 1)] = first + i;
            }
            sent += accepted;
            refusals = accepted < run ? refusals + 1 : 0;
        }
        return sent;
    }

    private int runLength(final long first, final int member, final int max) {
        int run = 1;
        final int limit = Math.min(max, RUN_MAX);
        while (run < limit
                && queue[(int) (head + run & queue.length - 1)] == first + run
                && requesters[window.slot(first + run)] == member) {
            run++;
        }
        return run;
    }

    private void forget(final long sequence) {
        requesters[window.slot(sequence)] = NO_REQUESTER;
        head++;
    }
}
