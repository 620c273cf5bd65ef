package io.framecast.reliability.placement;

/// Bookkeeping of a ring whose slots are consumed strictly in arrival order, whatever arrives, as a verbs
/// receive queue does; and of the mend buffers in which frames are assembled that did not land in one piece.
///
/// Arrival a lands in slot a mod ringSlots. A frame is in place when its datagrams landed one after another
/// and did not pass the ring's end. Any other frame is *mended*: repairs go straight into a mend buffer, and
/// when the frame is complete its landed runs are copied there and their slots are free at once. Slots are
/// freed in arrival order.
///
/// Order of calls: [#start]; for each datagram of the data lane [#land], then [#accept] or [#reject] with
/// what the receiver machine said; for each repair that the machine wants, [#placeRepair] *before* the
/// machine is told, and [#repaired] when it took it; for the next whole frame [#canComplete], then
/// `pollFrame`, then [#complete]; [#releaseRun] or [#releaseMend] when the user is done; [#repost] whenever
/// [#repostable] is not 0; [#creditLimit] after each of these.
///
/// Pure state; one thread; allocates only when made.
public final class FifoPlacement {
    /// Takes the device-side copies that mend a frame.
    public interface Copies {
        /// Copies a run of slots; no run passes the ring's end.
        ///
        /// @param mendBuffer the buffer to fill
        /// @param frameIndex position in the frame, in slots
        void copy(int fromSlot, int mendBuffer, long frameIndex, int slots);
    }

    /// No slot, no mend buffer.
    public static final int NONE = -1;

    private static final long UNKNOWN = -1;
    private static final long REPAIRED = -2;

    private final int ringSlots;
    private final int mask;
    // By arrival modulo ringSlots: whether the slot holds a payload that is needed.
    private final boolean[] busy;
    // By sequence: its arrival number, REPAIRED, or UNKNOWN.
    private final long[] landings;
    private final long[] mendFirst;
    private final boolean[] mendHeld;
    private int mendFree;
    private long arrived;
    private long freedTo;
    private long posted;
    private long start;
    private long nextFirst;
    // Sequences that landed or were repaired since the start.
    private long here;
    private long overruns;
    private long mendedSlots;
    private long refusedRepairs;

    /// Makes a placement whose ring is posted completely.
    ///
    /// @param ringSlots slots of the ring
    /// @param mendBuffers at least 1, each as long as the longest frame
    /// @param windowSlots the receiver window's capacity, a power of two
    public FifoPlacement(final int ringSlots, final int mendBuffers, final int windowSlots) {
        if (ringSlots <= 0 || mendBuffers < 1 || Integer.bitCount(windowSlots) != 1 || windowSlots < ringSlots) {
            throw new IllegalArgumentException("placement: expected a ring of at most " + windowSlots
                    + " slots and a mend buffer, got " + ringSlots + " and " + mendBuffers);
        }
        this.ringSlots = ringSlots;
        mask = windowSlots - 1;
        busy = new boolean[ringSlots];
        landings = new long[windowSlots];
        mendFirst = new long[mendBuffers];
        mendHeld = new boolean[mendBuffers];
        java.util.Arrays.fill(landings, UNKNOWN);
        java.util.Arrays.fill(mendFirst, UNKNOWN);
        mendFree = mendBuffers;
        posted = ringSlots;
    }

    /// The session's first sequence is known. What landed before was rejected.
    public void start(final long firstSequence) {
        start = firstSequence;
        nextFirst = firstSequence;
        here = 0;
    }

    /// A datagram of the data lane arrived, whatever it is.
    ///
    /// @return its slot, or [#NONE] when none was posted: the transport lost it
    public int land() {
        if (arrived == posted) {
            overruns++;
            return NONE;
        }
        final int slot = (int) (arrived % ringSlots);
        busy[slot] = true;
        arrived++;
        return slot;
    }

    /// The datagram that landed last is the payload of `sequence`.
    public void accept(final long sequence) {
        landings[index(sequence)] = arrived - 1;
        here++;
    }

    /// The datagram that landed last is not needed.
    public void reject() {
        busy[(int) ((arrived - 1) % ringSlots)] = false;
        advance();
    }

    /// Finds the place of a repair that the machine wants. The oldest incomplete frame may take the last mend
    /// buffer, a later one only when another stays free.
    ///
    /// @param firstSequence of the frame
    /// @return the mend buffer, or [#NONE]: the repair must count as not received, and will be asked for
    ///     again
    public int placeRepair(final long firstSequence) {
        final int buffer = mendBuffer(firstSequence);
        refusedRepairs += buffer == NONE ? 1 : 0;
        return buffer;
    }

    /// The machine took the repair of `sequence`, whose payload goes into its frame's mend buffer.
    public void repaired(final long sequence) {
        landings[index(sequence)] = REPAIRED;
        here++;
    }

    private int mendBuffer(final long firstSequence) {
        final int assigned = assignedMend(firstSequence);
        if (assigned != NONE) {
            return assigned;
        }
        final int needed = firstSequence == nextFirst ? 1 : 2;
        if (mendFree < needed) {
            return NONE;
        }
        for (int b = 0; b < mendFirst.length; b++) {
            if (mendFirst[b] == UNKNOWN && !mendHeld[b]) {
                mendFirst[b] = firstSequence;
                mendFree--;
                return b;
            }
        }
        return NONE;
    }

    private int assignedMend(final long firstSequence) {
        for (int b = 0; b < mendFirst.length; b++) {
            if (mendFirst[b] == firstSequence) {
                return b;
            }
        }
        return NONE;
    }

    /// Whether a frame whose datagrams are all here can be given to the user now; false while it must be
    /// mended and no buffer is free.
    public boolean canComplete(final long firstSequence, final long slots) {
        return isInPlace(firstSequence, slots) || mendBuffer(firstSequence) != NONE;
    }

    /// Whether a complete frame lies in one piece, in the slots from that of its first datagram on.
    public boolean isInPlace(final long firstSequence, final long slots) {
        final long first = landings[index(firstSequence)];
        if (first < 0 || first % ringSlots + slots > ringSlots) {
            return false;
        }
        for (long i = 1; i < slots; i++) {
            if (landings[index(firstSequence + i)] != first + i) {
                return false;
            }
        }
        return true;
    }

    /// The next frame goes to the user; mends it where needed.
    ///
    /// @return in place: the arrival number of its first datagram, where its memory begins (modulo
    ///     ringSlots); mended: −1 − the mend buffer that holds it
    public long complete(final long firstSequence, final long slots, final Copies copies) {
        nextFirst = firstSequence + slots;
        if (isInPlace(firstSequence, slots)) {
            final long first = landings[index(firstSequence)];
            forget(firstSequence, slots);
            dropPassed();
            return first;
        }
        final int buffer = mendBufferForDelivery(firstSequence);
        copyRuns(firstSequence, slots, buffer, copies);
        forget(firstSequence, slots);
        mendFirst[buffer] = UNKNOWN;
        mendHeld[buffer] = true;
        dropPassed();
        mendedSlots += slots;
        advance();
        return -1L - buffer;
    }

    // Headers that lie could have had a buffer assigned to a frame that never is.
    private void dropPassed() {
        for (int b = 0; b < mendFirst.length; b++) {
            if (mendFirst[b] != UNKNOWN && mendFirst[b] < nextFirst) {
                mendFirst[b] = UNKNOWN;
                mendFree++;
            }
        }
    }

    private int mendBufferForDelivery(final long firstSequence) {
        final int buffer = assignedMend(firstSequence);
        if (buffer == NONE) {
            throw new IllegalStateException("frame at " + firstSequence + " completed without asking");
        }
        return buffer;
    }

    private void copyRuns(final long firstSequence, final long slots, final int buffer, final Copies copies) {
        long i = 0;
        while (i < slots) {
            final long first = landings[index(firstSequence + i)];
            if (first < 0) {
                i++;
                continue;
            }
            final int slot = (int) (first % ringSlots);
            int run = 0;
            while (i + run < slots
                    && slot + run < ringSlots
                    && landings[index(firstSequence + i + run)] == first + run) {
                busy[slot + run] = false;
                run++;
            }
            copies.copy(slot, buffer, i, run);
            i += run;
        }
    }

    private void forget(final long firstSequence, final long slots) {
        for (long i = 0; i < slots; i++) {
            landings[index(firstSequence + i)] = UNKNOWN;
        }
    }

    /// The user gives back a frame that was in place.
    ///
    /// @param firstArrival as [#complete] returned it
    public void releaseRun(final long firstArrival, final long slots) {
        if (firstArrival < freedTo || firstArrival + slots > arrived) {
            throw new IllegalStateException("run of " + slots + " slots at arrival " + firstArrival + " is not held");
        }
        final int slot = (int) (firstArrival % ringSlots);
        for (int i = 0; i < slots; i++) {
            busy[slot + i] = false;
        }
        advance();
    }

    /// The user gives back a mended frame.
    public void releaseMend(final int buffer) {
        if (!mendHeld[buffer]) {
            throw new IllegalStateException("mend buffer " + buffer + " is not held");
        }
        mendHeld[buffer] = false;
        mendFree++;
    }

    /// The next frames, up to the one that begins at `endSequence`, are given up: what landed of them is
    /// free, and what did not is not waited for.
    public void skip(final long firstSequence, final long endSequence) {
        long came = 0;
        for (long s = firstSequence; s < Math.min(endSequence, firstSequence + mask + 1); s++) {
            final long landing = landings[index(s)];
            if (landing >= 0) {
                busy[(int) (landing % ringSlots)] = false;
            }
            came += landing == UNKNOWN ? 0 : 1;
            landings[index(s)] = UNKNOWN;
        }
        start += endSequence - firstSequence - came;
        nextFirst = endSequence;
        dropPassed();
        advance();
    }

    private void advance() {
        while (freedTo < arrived && !busy[(int) (freedTo % ringSlots)]) {
            freedTo++;
        }
    }

    /// Slots that are free and not posted, beginning at [#repostSlot]; they may pass the ring's end.
    public int repostable() {
        return (int) (freedTo + ringSlots - posted);
    }

    public int repostSlot() {
        return (int) (posted % ringSlots);
    }

    /// The next `count` free slots were posted.
    public void repost(final int count) {
        if (count < 0 || count > repostable()) {
            throw new IllegalStateException(count + " slots posted, " + repostable() + " were free");
        }
        posted += count;
    }

    /// Slots posted that nothing has landed in.
    public int postedFree() {
        return (int) (posted - arrived);
    }

    /// Sequences below have a slot: as many are still to come as slots are posted. Those missing between
    /// others count, for they may still come, late; those repaired do not, wherever they are in the sequence,
    /// or a lost tail that was repaired would take its slots away for ever.
    public long creditLimit() {
        return start + here + postedFree();
    }

    /// Datagrams that found no slot.
    public long overruns() {
        return overruns;
    }

    /// Slots of frames that were assembled in mend buffers.
    public long mendedSlots() {
        return mendedSlots;
    }

    /// Repairs that found no mend buffer.
    public long refusedRepairs() {
        return refusedRepairs;
    }

    /// Mend buffers neither assigned nor held.
    public int mendFree() {
        return mendFree;
    }

    private int index(final long sequence) {
        return (int) sequence & mask;
    }
}
