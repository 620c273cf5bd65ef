package io.framecast.reliability.assembly;

/// Bookkeeping of a ring whose slots are consumed strictly in arrival order, as in a verbs receive queue; and of
/// the reassembly buffers for frames that did not land in one piece.
///
/// A frame is in place when its datagrams arrived one after another in consecutive slots, and did not pass the
/// ring's end, or the ring is mapped twice. Slots before the ring's end, too few for the next frame, may be left out
/// ([#leaveOut]). Any other frame is *reassembled*: repairs go straight into a reassembly
/// buffer. When the frame is complete its arrived runs are copied there, and their slots are free at once. Slots are
/// freed, and posted again, in arrival order.
///
/// As long as the lane gives out slots in the order of posting, arrival a lands in slot a mod ringSlots. A lane
/// that drops a datagram after it arrived posts its slot again behind the posted ones, and from then on that slot
/// comes later in each round. So each arrival is reported with its slot.
///
/// Order of calls: [#start]; for each datagram of the data lane [#arrive(int)], then [#accept] or [#reject] by the
/// receiver machine's verdict. For each repair that the machine wants, [#placeRepair] *before* the machine gets it,
/// and [#repaired] when the machine took it. For the next whole frame [#canComplete], then `pollFrame`, then
/// [#complete]; [#releaseRun] or [#releaseBuffer] when the user releases it. [#repost] whenever [#repostable] is
/// not 0, and [#creditLimit] after each of these.
///
/// Pure state; one thread; allocates only in its constructor.
public final class ArrivalPlacement {
    /// Takes the device-side copies that reassemble a frame.
    public interface Copies {
        /// Copies a run of slots; no run passes the ring's end.
        ///
        /// @param buffer the buffer to fill
        /// @param frameIndex position in the frame, in slots
        void copy(int fromSlot, int buffer, long frameIndex, int slots);
    }

    /// Names the payloads that did not arrive in their slots.
    interface Redirects {
        /// Every payload lies in its slot.
        Redirects NONE = new Redirects() {};

        /// Whether a payload lies in its slot.
        default boolean isInSlot(final int slot) {
            return true;
        }

        /// Whether the frame of a payload that does not lie in its slot, the frame's first, lies in one piece
        /// there.
        default boolean isWhole(final int firstSlot, final long count) {
            return false;
        }

        /// Whether the payload of `next` lies behind one that does not lie in its slot.
        default boolean isBehind(final int slot, final int next) {
            return false;
        }

        /// A payload was copied, or is not needed.
        default void forget(final int slot) {
            // It lay in its slot.
        }
    }

    /// No slot, no reassembly buffer.
    public static final int NONE = -1;

    private static final long UNKNOWN = -1;
    private static final long REPAIRED = -2;
    private static final long PATIENCE_NS = 100_000_000;
    private static final long WAITING_PATIENCE_NS = 500_000_000;
    // The share of the difference that a shorter frame makes.
    private static final int LENGTH_PARTS = 8;

    private final int ringSlots;
    private final int mask;
    private final boolean mappedTwice;
    // By arrival modulo ringSlots: the slot; before the first arrival there, the slot that is posted for it.
    private final int[] slots;
    // By arrival modulo ringSlots: whether the slot holds a payload that is needed.
    private final boolean[] busy;
    // By sequence: its arrival number, REPAIRED, or UNKNOWN.
    private final long[] arrivals;
    private final ReassemblyBuffers buffers;
    private Redirects redirects = Redirects.NONE;
    private long arrived;
    private long freedTo;
    private long posted;
    // By arrival modulo ringSlots: whether its slot is left out this time, and how many are from `arrived` on.
    private final boolean[] passed;
    private int passedAhead;
    private long start;
    private long nextFirst;
    // Sequences that arrived or were repaired since the start.
    private long here;
    private long overruns;
    private long refusedRepairs;
    // The expected length of the next frames: a longer frame counts at once, a shorter one little by little.
    private long usualSlots = 1;

    /// Makes a placement for a ring that is mapped once. Nothing is posted yet.
    ///
    /// @param ringSlots slots of the ring
    /// @param bufferCount at least 1, each as long as the longest frame
    /// @param windowSlots the receiver window's capacity, a power of two
    public ArrivalPlacement(final int ringSlots, final int bufferCount, final int windowSlots) {
        this(ringSlots, bufferCount, bufferCount - 1, windowSlots, false);
    }

    /// Makes a placement; nothing is posted yet.
    ///
    /// @param laterMax frames behind the oldest incomplete one that are reassembled at a time. A user that holds
    ///     h frames and waits for one more needs h + 1 + `laterMax` reassembly buffers, or may wait for one that
    ///     only it can give back
    /// @param mappedTwice whether the ring's memory is followed by itself, so that a frame which passes its
    ///     end is in one piece all the same
    public ArrivalPlacement(
            final int ringSlots,
            final int bufferCount,
            final int laterMax,
            final int windowSlots,
            final boolean mappedTwice) {
        if (ringSlots <= 0 || bufferCount < 1 || Integer.bitCount(windowSlots) != 1 || windowSlots < ringSlots) {
            throw new IllegalArgumentException("placement: expected a ring of at most " + windowSlots
                    + " slots and a reassembly buffer, got " + ringSlots + " and " + bufferCount);
        }
        this.ringSlots = ringSlots;
        mask = windowSlots - 1;
        this.mappedTwice = mappedTwice;
        slots = new int[ringSlots];
        java.util.Arrays.setAll(slots, i -> i);
        busy = new boolean[ringSlots];
        passed = new boolean[ringSlots];
        arrivals = new long[windowSlots];
        buffers = new ReassemblyBuffers(bufferCount, laterMax);
        java.util.Arrays.fill(arrivals, UNKNOWN);
    }

    /// Before the first arrival: some payloads will lie elsewhere than in their slots.
    void redirectBy(final Redirects by) {
        redirects = by;
    }

    /// The session's first sequence is known. Earlier arrivals were rejected.
    public void start(final long firstSequence) {
        start = firstSequence;
        nextFirst = firstSequence;
        here = 0;
    }

    /// Any datagram of the data lane arrived in the slot that was posted first.
    ///
    /// @return its slot, or [#NONE] when none was posted: the transport lost it
    public int arrive() {
        leavePassed();
        if (arrived == posted) {
            overruns++;
            return NONE;
        }
        final int slot = slots[(int) (arrived % ringSlots)];
        arrive(slot);
        return slot;
    }

    /// Any datagram of the data lane arrived.
    ///
    /// @param slot the slot in which it arrived
    public void arrive(final int slot) {
        leavePassed();
        if (arrived == posted) {
            throw new IllegalStateException("a datagram arrived in slot " + slot + ", and none was posted");
        }
        final int at = (int) (arrived % ringSlots);
        slots[at] = slot;
        busy[at] = true;
        arrived++;
    }

    private void leavePassed() {
        while (passedAhead > 0 && passed[(int) (arrived % ringSlots)]) {
            passed[(int) (arrived % ringSlots)] = false;
            passedAhead--;
            arrived++;
        }
    }

    /// The datagram that arrived last is the payload of `sequence`.
    public void accept(final long sequence) {
        arrivals[index(sequence)] = arrived - 1;
        here++;
    }

    /// The datagram that arrived last is not needed.
    public void reject() {
        free(arrived - 1);
        advance();
    }

    /// Finds the place of a repair that the machine wants. The oldest incomplete frame may take the last
    /// reassembly buffer, a later one only when another stays free.
    ///
    /// @param firstSequence of the frame
    /// @param slots its length in datagrams
    /// @return the reassembly buffer, or [#NONE]: the repair must then count as not received, the machine gets
    ///     `RepairRequests.defer`, and [#takeRoom] returns the frame when there is room
    public int placeRepair(final long firstSequence, final long slots) {
        final int buffer = buffers.take(firstSequence, nextFirst);
        usualSlots = Math.max(usualSlots, slots);
        if (buffer == NONE) {
            refusedRepairs++;
            buffers.await(firstSequence, slots);
        }
        return buffer;
    }

    /// How long a frame without a reassembly buffer for its repairs defers its requests, unless [#takeRoom] names
    /// it before.
    public long patienceNs(final long firstSequence) {
        return buffers.isWaiting(firstSequence) ? WAITING_PATIENCE_NS : PATIENCE_NS;
    }

    /// Takes a reassembly buffer for the oldest of the frames whose repairs found none. Call it after each
    /// [#complete], [#skip] and [#releaseBuffer] until it returns [#NONE].
    ///
    /// @return the first sequence of that frame, whose repairs have a place now
    ///     (`RepairRequests.retryNow`), or [#NONE]
    public long takeRoom() {
        return buffers.takeForWaiting(nextFirst);
    }

    /// Length in datagrams of the frame that [#takeRoom] named last.
    public long takenSlots() {
        return buffers.givenSlots();
    }

    /// Number of frames whose repairs find a place at a time; requests for more are in vain
    /// (`RepairRequests.room`).
    public int roomFrames() {
        return buffers.room();
    }

    /// Their likely length in datagrams.
    public long roomSlots() {
        return usualSlots;
    }

    /// The machine took the repair of `sequence`, whose payload goes into its frame's reassembly buffer.
    public void repaired(final long sequence) {
        arrivals[index(sequence)] = REPAIRED;
        here++;
    }

    /// Whether a frame whose datagrams are all here can be given to the user now; false while it must be
    /// reassembled and no buffer is free.
    public boolean canComplete(final long firstSequence, final long count) {
        return isInPlace(firstSequence, count) || buffers.take(firstSequence, nextFirst) != NONE;
    }

    /// Whether a complete frame lies in one piece, in the slots from that of its first datagram on.
    public boolean isInPlace(final long firstSequence, final long count) {
        final long first = arrivals[index(firstSequence)];
        if (first < 0) {
            return false;
        }
        final int slot = slotOf(first);
        if (!redirects.isInSlot(slot)) {
            return redirects.isWhole(slot, count) && areInARow(firstSequence, first, count, false);
        }
        return (mappedTwice || slot + count <= ringSlots) && areInARow(firstSequence, first, count, true);
    }

    // Whether datagrams arrived one behind the other, and lie so in slots of their own.
    private boolean areInARow(final long firstSequence, final long first, final long count, final boolean inSlots) {
        int at = (int) (first % ringSlots);
        int slot = slots[at];
        for (long i = 1; i < count; i++) {
            at = at + 1 == ringSlots ? 0 : at + 1;
            slot = slot + 1 == ringSlots ? 0 : slot + 1;
            if (arrivals[index(firstSequence + i)] != first + i
                    || (inSlots && (slots[at] != slot || !redirects.isInSlot(slot)))) {
                return false;
            }
        }
        return true;
    }

    /// The slot of an arrival that was not posted again.
    public int slotOf(final long arrival) {
        return slots[(int) (arrival % ringSlots)];
    }

    /// The next frame goes to the user; its copies begin where it needs a buffer.
    ///
    /// @return in place: the arrival number of its first datagram, in whose slot ([#slotOf]) its memory
    ///     begins; reassembled: −1 − the reassembly buffer that holds it
    public long complete(final long firstSequence, final long count, final Copies copies) {
        nextFirst = firstSequence + count;
        usualSlots = Math.max(count, usualSlots - (usualSlots - count + LENGTH_PARTS - 1) / LENGTH_PARTS);
        if (isInPlace(firstSequence, count)) {
            final long first = arrivals[index(firstSequence)];
            forget(firstSequence, count);
            buffers.dropBefore(nextFirst);
            return first;
        }
        final int buffer = bufferForDelivery(firstSequence);
        copyRuns(firstSequence, count, buffer, copies);
        forget(firstSequence, count);
        buffers.hold(buffer);
        buffers.dropBefore(nextFirst);
        advance();
        return -1L - buffer;
    }

    private int bufferForDelivery(final long firstSequence) {
        final int buffer = buffers.find(firstSequence);
        if (buffer == NONE) {
            throw new IllegalStateException("frame at " + firstSequence + " completed without asking");
        }
        return buffer;
    }

    private void copyRuns(final long firstSequence, final long count, final int buffer, final Copies copies) {
        long i = 0;
        while (i < count) {
            final long first = arrivals[index(firstSequence + i)];
            if (first < 0) {
                i++;
                continue;
            }
            final int slot = slotOf(first);
            int run = 1;
            while (i + run < count
                    && arrivals[index(firstSequence + i + run)] == first + run
                    && isBehind(slotOf(first + run - 1), slotOf(first + run))) {
                run++;
            }
            copies.copy(slot, buffer, i, run);
            for (int k = 0; k < run; k++) {
                drop(first + k);
            }
            i += run;
        }
    }

    private boolean isBehind(final int slot, final int next) {
        return redirects.isInSlot(slot) ? next == slot + 1 && redirects.isInSlot(next) : redirects.isBehind(slot, next);
    }

    // Its payload was copied, or is not needed.
    private void drop(final long arrival) {
        redirects.forget(slotOf(arrival));
        free(arrival);
    }

    private void free(final long arrival) {
        busy[(int) (arrival % ringSlots)] = false;
    }

    private void forget(final long firstSequence, final long count) {
        for (long i = 0; i < count; i++) {
            arrivals[index(firstSequence + i)] = UNKNOWN;
        }
    }

    /// The user releases a frame that was in place.
    ///
    /// @param firstArrival as [#complete] returned it
    public void releaseRun(final long firstArrival, final long count) {
        if (firstArrival < freedTo || firstArrival + count > arrived) {
            throw new IllegalStateException("run of " + count + " slots at arrival " + firstArrival + " is not held");
        }
        for (long i = 0; i < count; i++) {
            free(firstArrival + i);
        }
        advance();
    }

    /// The user releases a reassembled frame.
    public void releaseBuffer(final int buffer) {
        buffers.release(buffer);
    }

    /// Drops the next frames, up to the one that begins at `endSequence`: their slots are free, and missing
    /// datagrams are not waited for.
    public void skip(final long firstSequence, final long endSequence) {
        long came = 0;
        for (long s = firstSequence; s < Math.min(endSequence, firstSequence + mask + 1); s++) {
            final long arrival = arrivals[index(s)];
            if (arrival >= 0) {
                drop(arrival);
            }
            came += arrival == UNKNOWN ? 0 : 1;
            arrivals[index(s)] = UNKNOWN;
        }
        start += endSequence - firstSequence - came;
        nextFirst = endSequence;
        buffers.dropBefore(nextFirst);
        advance();
    }

    private void advance() {
        while (freedTo < arrived && !busy[(int) (freedTo % ringSlots)]) {
            freedTo++;
        }
    }

    /// Slots that are free and not posted.
    public int repostable() {
        return (int) (freedTo + ringSlots - posted);
    }

    /// The first of these.
    public int repostSlot() {
        return slots[(int) (posted % ringSlots)];
    }

    /// Number of these that follow one another from [#repostSlot] on; they may pass the ring's end.
    public int repostRun() {
        final int free = repostable();
        final int first = repostSlot();
        int run = 0;
        while (run < free && slots[(int) ((posted + run) % ringSlots)] == (first + run) % ringSlots) {
            run++;
        }
        return run;
    }

    /// The next `count` free slots were posted.
    public void repost(final int count) {
        if (count < 0 || count > repostable()) {
            throw new IllegalStateException(count + " slots posted, " + repostable() + " were free");
        }
        posted += count;
    }

    /// The next `count` free slots are left out this time: the next datagram goes to the slot behind them.
    void leaveOut(final int count) {
        for (int i = 0; i < count; i++) {
            passed[(int) ((posted + i) % ringSlots)] = true;
        }
        passedAhead += count;
        repost(count);
    }

    /// Posted slots in which nothing has arrived.
    public int postedFree() {
        return (int) (posted - arrived) - passedAhead;
    }

    /// Sequences below have a slot: as many are still to come as slots are posted. Missing sequences between
    /// arrived ones count, because they may still come late. Repaired sequences do not count wherever they are,
    /// because the repair of a lost tail would otherwise take its slots away for ever.
    public long creditLimit() {
        return start + here + postedFree();
    }

    /// Datagrams that found no slot.
    public long overruns() {
        return overruns;
    }

    /// Repairs that found no reassembly buffer.
    public long refusedRepairs() {
        return refusedRepairs;
    }

    /// Reassembly buffers neither assigned nor held.
    public int freeBuffers() {
        return buffers.free();
    }

    private int index(final long sequence) {
        return (int) sequence & mask;
    }
}
