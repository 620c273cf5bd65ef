package io.framecast.engine.node;

import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.api.spi.OneSidedEndpoint.State;
import io.framecast.reliability.ReceiverOutput;
import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.LinkOffer;
import io.framecast.reliability.wire.StreamInfo;

/// Datagrams that are read over one endpoint, payload first and header behind it, so that a header that is
/// still the one asked for vouches for a payload that was there before it. Where slots may be filled or used
/// again meanwhile, between two looks at their words.
///
/// By the receiver's thread.
final class WindowReads {
    /// What [#end] gives for a datagram that was what was missing.
    static final long LANDED = -1;

    // A grant's place in the queue is left to it.
    private static final int ROOM_LEFT = 2;
    private static final int PARTS = 2;
    private static final int PARTS_GUARDED = 4;
    /// Operations of all reads that can be under way.
    static final int OPERATIONS_MAX = PARTS_GUARDED * ReadSlots.SLOTS + ROOM_LEFT;

    private final OneSidedEndpoint endpoint;
    private final PullLanding landing;
    private final StreamInfo stream;
    private final boolean guarded;
    private final LinkOffer from;
    // Reads end in order: a ring of slots, with the sequence of each and when it began.
    private final int[] order = new int[ReadSlots.SLOTS];
    private final long[] sequences = new long[ReadSlots.SLOTS];
    private final long[] beganNs = new long[ReadSlots.SLOTS];
    private long begun;
    private long ended;
    // The device took a part of the read begun last, and no more: it never ends.
    private boolean refused;
    private long slow;
    private long slowNs;

    /// @param from all of it from the wire; used over this endpoint only
    /// @param guarded whether slots may be filled or used again while they are read
    WindowReads(
            final OneSidedEndpoint endpoint,
            final PullLanding landing,
            final StreamInfo stream,
            final LinkOffer from,
            final boolean guarded) {
        this.endpoint = endpoint;
        this.landing = landing;
        this.stream = stream;
        this.from = from;
        this.guarded = guarded;
    }

    boolean isBusy() {
        return begun - (refused ? 1 : 0) != ended;
    }

    /// Reads that take longer do not count on ending: what is missing is asked for until they do.
    void slowAfter(final long limitNs) {
        slowNs = limitNs;
    }

    /// Datagrams that were not read because reads are slow.
    long slow() {
        return slow;
    }

    /// Begins to read datagrams.
    ///
    /// @return how many, from the first on, are on their way; NO_PULL when it takes too long
    int pull(final long firstSequence, final int count, final long nowNs) {
        if (endpoint.state() != State.UP || refused) {
            return ReceiverOutput.NO_PULL;
        }
        // Others have all slots, perhaps by a connection that is about to break: who knows when.
        if (!isBusy() && landing.slots().isEmpty()) {
            slow += count;
            return ReceiverOutput.NO_PULL;
        }
        if (isBusy() && nowNs - beganNs[(int) (ended % ReadSlots.SLOTS)] > slowNs) {
            slow += count;
            return ReceiverOutput.NO_PULL;
        }
        for (int i = 0; i < count; i++) {
            if (!isBegun(firstSequence + i) && !begin(firstSequence + i, nowNs)) {
                return i;
            }
        }
        return count;
    }

    private boolean isBegun(final long sequence) {
        for (long read = ended; read < begun; read++) {
            if (sequences[(int) (read % ReadSlots.SLOTS)] == sequence) {
                return true;
            }
        }
        return false;
    }

    private boolean begin(final long sequence, final long nowNs) {
        if (landing.slots().isEmpty() || endpoint.room() < (guarded ? PARTS_GUARDED : PARTS) + ROOM_LEFT) {
            return false;
        }
        final int slot = landing.slots().take();
        final int read = (int) (begun++ % ReadSlots.SLOTS);
        order[read] = slot;
        sequences[read] = sequence;
        beganNs[read] = nowNs;
        refused = !post(slot, sequence & (stream.windowSlots() - 1));
        return !refused;
    }

    // Once a part of it was taken something may land in the slot, whatever becomes of the rest.
    private boolean post(final int slot, final long at) {
        return (!guarded || look(slot, at, false))
                && endpoint.read(
                        landing.payload(slot),
                        from.payload().address() + at * stream.slotBytes(),
                        from.payload().key(),
                        OneSidedEndpoint.NO_TOKEN)
                && endpoint.read(
                        landing.header(slot),
                        from.headers().address() + at * DataLayout.LENGTH,
                        from.headers().key(),
                        guarded ? OneSidedEndpoint.NO_TOKEN : slot)
                && (!guarded || look(slot, at, true));
    }

    private boolean look(final int slot, final long at, final boolean behind) {
        return endpoint.read(
                landing.look(slot, behind),
                from.guards().address() + at * Long.BYTES,
                from.guards().key(),
                behind ? slot : OneSidedEndpoint.NO_TOKEN);
    }

    /// A token came back: the sink takes what was read.
    ///
    /// @return [#LANDED], or the sequence that was read in vain
    long end(final int slot) {
        final int read = (int) (ended++ % ReadSlots.SLOTS);
        if (order[read] != slot) {
            throw new IllegalStateException("reads of one queue pair ended out of order");
        }
        final int bytes = landing.datagramBytes(slot, sequences[read]);
        if (bytes > 0 && (!guarded || landing.isVouchedFor(slot, sequences[read], bytes))) {
            landing.slots().land(slot, bytes);
            return LANDED;
        }
        landing.slots().giveBack(slot);
        return sequences[read];
    }

    /// The endpoint was closed: nothing lands any more, and slots are free.
    void abandon() {
        while (ended < begun) {
            landing.slots().giveBack(order[(int) (ended++ % ReadSlots.SLOTS)]);
        }
    }
}
