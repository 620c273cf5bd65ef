package io.framecast.reliability.repair;

import io.framecast.reliability.window.RepairStore;

/// The sequences that a co-root sends to members of its group. A sequence that the co-root lacks is sent as soon as
/// it has it. A sequence that was sent to a member less than a round trip ago is not sent to it again. Each
/// sequence is queued once, so the store bounds the queue.
///
/// Pure state; one thread. Times are nanoseconds since the engine's start.
public final class GroupRepairs {
    /// Sends repairs to one member.
    public interface Output {
        /// Sends `count` consecutive sequences, all held.
        ///
        /// @return how many were accepted
        int repair(int member, long firstSequence, int count);
    }

    private static final int RUN_MAX = 64;

    private final RepairStore store;
    // By slot: the requesters of the sequence that `sequences` names, a bit for each member.
    private final long[] sequences;
    private final long[] wantedBy;
    private final long[] sentTo;
    private final long[] sentNs;
    private final boolean[] queued;
    private final long[] queue;
    private long head;
    private long tail;

    /// Makes an empty schedule for the sequences of a store.
    public GroupRepairs(final RepairStore store) {
        this.store = store;
        sequences = new long[store.slots()];
        wantedBy = new long[store.slots()];
        sentTo = new long[store.slots()];
        sentNs = new long[store.slots()];
        queued = new boolean[store.slots()];
        queue = new long[store.slots()];
        java.util.Arrays.fill(sequences, -1);
    }

    /// A member requests a sequence that is held, or that has not come yet.
    ///
    /// @param member 0 … 63
    /// @param holdOffNs a sequence is not sent again to a member within this time
    /// @return whether the member did not wait for it before
    public boolean request(final int member, final long sequence, final long nowNs, final long holdOffNs) {
        final int slot = store.slot(sequence);
        if (sequences[slot] != sequence) {
            if (queued[slot]) {
                // Older than the window's reach: the next pass of the queue drops it.
                return false;
            }
            sequences[slot] = sequence;
            wantedBy[slot] = 0;
            sentTo[slot] = 0;
        }
        final long bit = 1L << member;
        if ((sentTo[slot] & bit) != 0 && nowNs - sentNs[slot] < holdOffNs) {
            return false;
        }
        final boolean isNew = (wantedBy[slot] & bit) == 0;
        wantedBy[slot] |= bit;
        if (store.holds(sequence)) {
            enqueue(slot, sequence);
        }
        return isNew;
    }

    /// The store holds this sequence now.
    public void onHeld(final long sequence) {
        final int slot = store.slot(sequence);
        if (sequences[slot] == sequence && wantedBy[slot] != 0) {
            enqueue(slot, sequence);
        }
    }

    private void enqueue(final int slot, final long sequence) {
        if (!queued[slot]) {
            queued[slot] = true;
            queue[(int) (tail++ & queue.length - 1)] = sequence;
        }
    }

    public boolean isEmpty() {
        return head == tail;
    }

    /// Sends from the queue, runs of consecutive sequences together. Members request refused sequences again.
    ///
    /// @param datagramsMax most datagrams to send now
    /// @param alive a bit for each member that is still one
    /// @return datagrams sent
    public int drain(final int datagramsMax, final long alive, final long nowNs, final Output output) {
        int sent = 0;
        while (head < tail && sent < datagramsMax) {
            final long first = queue[(int) (head & queue.length - 1)];
            // Overwritten meanwhile: all members have acknowledged it.
            final long wanted = store.holds(first) ? wantedBy[store.slot(first)] : 0;
            final int run = runLength(first, wanted, datagramsMax - sent);
            for (long members = wanted & alive; members != 0; members &= members - 1) {
                sent += output.repair(Long.numberOfTrailingZeros(members), first, run);
            }
            for (int i = 0; i < run; i++) {
                final int slot = store.slot(first + i);
                queued[slot] = false;
                wantedBy[slot] = 0;
                sentTo[slot] = wanted;
                sentNs[slot] = nowNs;
            }
            head += run;
        }
        return sent;
    }

    private int runLength(final long first, final long wanted, final int max) {
        int run = 1;
        final long limit = Math.min(Math.min(max, RUN_MAX), tail - head);
        if (wanted == 0) {
            return 1;
        }
        while (run < limit
                && queue[(int) (head + run & queue.length - 1)] == first + run
                && store.holds(first + run)
                && wantedBy[store.slot(first + run)] == wanted) {
            run++;
        }
        return run;
    }
}
