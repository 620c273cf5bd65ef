package io.framecast.reliability.placement;

/// Puts the payloads of one aimed batch where they belong. A batch lands in slots chosen before anybody knew
/// what it would bring; afterwards each accepted payload has a slot that its sequence names. The plan is a list
/// of slot copies that moves them all and never overwrites a payload that has not moved yet or is already in
/// place.
///
/// Every slot gives at most one payload and takes at most one, so the moves form chains and rings. A chain is
/// copied from its end: after a loss, everything behind the gap moves forward, the last first. A ring (only
/// reordering makes them) is opened through one scratch slot. So the plan has one copy per misplaced payload
/// and one more per ring, which is the least there can be.
///
/// Pure state; one thread; allocates only when made.
public final class AimedBatch {
    /// Takes the plan, in the order in which it must be carried out.
    public interface Copies {
        /// Copies one payload between slots.
        void copy(int fromSlot, int toSlot);
    }

    private static final int NONE = -1;

    private final int[] fromSlots;
    private final int[] toSlots;
    private final int[] movedBy;
    // Open addressing: slot → index of the payload that landed in it.
    private final int[] table;
    private final int tableMask;
    private int count;

    /// Makes a planner.
    ///
    /// @param datagramsMax datagrams in a batch
    public AimedBatch(final int datagramsMax) {
        fromSlots = new int[datagramsMax];
        toSlots = new int[datagramsMax];
        movedBy = new int[datagramsMax];
        final int capacity = Integer.highestOneBit(Math.max(4, datagramsMax)) << 2;
        table = new int[capacity];
        tableMask = capacity - 1;
    }

    /// Begins a batch.
    public void clear() {
        count = 0;
    }

    /// An accepted payload landed in `landingSlot` and belongs in `slot`. Payloads that were not accepted are
    /// not told; what they left in their slots may be overwritten.
    public void add(final int landingSlot, final int slot) {
        fromSlots[count] = landingSlot;
        toSlots[count++] = slot;
    }

    /// Gives the copies that put everything in place.
    ///
    /// @param scratchSlot a slot that no sequence and no landing of this batch uses
    /// @return how many copies
    public int plan(final int scratchSlot, final Copies copies) {
        int misplaced = 0;
        for (int i = 0; i < count; i++) {
            misplaced += fromSlots[i] == toSlots[i] ? 0 : 1;
        }
        if (misplaced == 0) {
            return 0;
        }
        index();
        int copied = 0;
        // From the last, so that the chains that losses make are met at their ends.
        for (int i = count - 1; i >= 0; i--) {
            if (fromSlots[i] != toSlots[i]) {
                copied += move(i, scratchSlot, copies);
            }
        }
        return copied;
    }

    private void index() {
        java.util.Arrays.fill(table, NONE);
        for (int i = 0; i < count; i++) {
            int position = hash(fromSlots[i]);
            while (table[position] != NONE) {
                position = position + 1 & tableMask;
            }
            table[position] = i;
        }
    }

    // Follows the chain of payloads in each other's way, then copies it from its end back to payload i.
    private int move(final int i, final int scratchSlot, final Copies copies) {
        int depth = 0;
        int current = i;
        movedBy[i] = NONE;
        while (true) {
            final int blocker = unmovedIn(toSlots[current]);
            if (blocker == NONE) {
                break;
            }
            if (blocker == i) {
                return openRing(current, scratchSlot, depth, copies);
            }
            movedBy[blocker] = current;
            current = blocker;
            depth++;
        }
        unwind(current, copies);
        return depth + 1;
    }

    private int openRing(final int last, final int scratchSlot, final int depth, final Copies copies) {
        copies.copy(fromSlots[last], scratchSlot);
        fromSlots[last] = scratchSlot;
        // The last of the ring now comes from scratch, so the one that wanted its old slot goes first.
        final int before = movedBy[last];
        if (before != NONE) {
            unwind(before, copies);
        }
        copies.copy(scratchSlot, toSlots[last]);
        fromSlots[last] = toSlots[last];
        return depth + 2;
    }

    private void unwind(final int end, final Copies copies) {
        int current = end;
        while (current != NONE) {
            copies.copy(fromSlots[current], toSlots[current]);
            fromSlots[current] = toSlots[current];
            current = movedBy[current];
        }
    }

    // The payload that landed in a slot and must still leave it.
    private int unmovedIn(final int slot) {
        int position = hash(slot);
        while (table[position] != NONE) {
            final int i = table[position];
            if (fromSlots[i] == slot && toSlots[i] != slot) {
                return i;
            }
            position = position + 1 & tableMask;
        }
        return NONE;
    }

    private int hash(final int slot) {
        return ((slot * 0x9e3779b9) >>> 7) & tableMask;
    }
}
