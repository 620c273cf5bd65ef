package io.framecast.reliability.lane;

/// Slots of a lane that are used in order of arrival and freed in that order. Repair lanes, control lanes and
/// staging memory, from which payloads are copied on, use this queue. It serves lanes of either placement: on lanes
/// by arrival freed slots are appended, on lanes by sequence all free slots are posted anew.
///
/// Pure state; one thread; allocates only in its constructor.
public final class SlotQueue {
    private final int slots;
    // [slots], on lanes by arrival: the slot in which datagram number n arrived, at n modulo slots. A lane that
    // dropped a datagram has posted its slot again behind the posted ones, so slots need not come in the ring's order.
    private final int[] order;
    private long taken;
    private long freed;
    private long posted;

    /// @param slots of the lane's receive ring
    public SlotQueue(final int slots) {
        this.slots = slots;
        order = new int[slots];
        java.util.Arrays.setAll(order, i -> i);
    }

    /// Posts the free slots and takes the datagrams that arrived.
    ///
    /// @return datagrams taken, as the lane describes them
    public int poll(final LanePort lane) {
        return switch (lane.placement()) {
            case BY_ARRIVAL -> pollByArrival(lane);
            case BY_SEQUENCE -> pollBySequence(lane);
        };
    }

    private int pollByArrival(final LanePort lane) {
        append(lane);
        final int count = lane.poll();
        for (int i = 0; i < count; i++) {
            order[(int) ((taken + i) % slots)] = lane.slot(i);
        }
        taken += count;
        return count;
    }

    private int pollBySequence(final LanePort lane) {
        final long limit = freed + slots;
        if (taken == limit) {
            return 0;
        }
        final int first = (int) (taken % slots);
        lane.post(first, (int) Math.min(limit - taken, lane.batchMax()));
        final int count = lane.poll();
        if (count > 0) {
            // Slots of datagrams that the lane dropped after they arrived are taken with the others.
            taken += Math.floorMod(lane.slot(count - 1) - first, slots) + 1;
        }
        return count;
    }

    private void append(final LanePort lane) {
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
    public long taken() {
        return taken;
    }

    /// The first `count` slots ever taken may be used again.
    public void freeUpTo(final long count) {
        freed = Math.max(freed, count);
    }

    public boolean isFull() {
        return taken == freed + slots;
    }
}
