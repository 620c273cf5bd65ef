package io.framecast.reliability.onesided;

import io.framecast.reliability.assembly.ReadSlots;
import io.framecast.reliability.receive.RemoteMemory;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.EndpointOffer;
import io.framecast.reliability.wire.StreamInfo;
import java.util.function.BooleanSupplier;

/// RDMA reads of single datagrams out of one peer's window. The payload is read first and the header behind it,
/// so a header that is still the wanted one proves that the payload was there before. Where slots may be filled
/// or reused during the read, the slot's guard is read before and behind both.
///
/// Threading: the session's thread.
final class WindowReads {
    /// [#end] of a read that brought the wanted datagram.
    static final long ARRIVED = -1;

    // Leaves a place in the queue for a write of credit.
    private static final int ROOM_LEFT = 2;
    private static final int PARTS = 2;
    private static final int PARTS_GUARDED = 4;
    /// Operations of all reads that can be in flight.
    static final int OPERATIONS_MAX = PARTS_GUARDED * ReadSlots.SLOTS + ROOM_LEFT;

    private final EndpointPort endpoint;
    private final ReadBuffers buffers;
    private final StreamInfo stream;
    private final BooleanSupplier guarded;
    private final EndpointOffer window;
    // Reads end in order: a ring of slots, with the sequence of each and when it began.
    private final int[] order = new int[ReadSlots.SLOTS];
    private final long[] sequences = new long[ReadSlots.SLOTS];
    private final long[] beganNs = new long[ReadSlots.SLOTS];
    private final boolean[] withGuards = new boolean[ReadSlots.SLOTS];
    private long begun;
    private long ended;
    // The endpoint took a part of the last read and refused the rest: that read never ends.
    private boolean refused;
    private final Counts<ReadCount> counts;
    private long slowNs;

    /// @param window the peer's, from the wire; used over this endpoint only
    /// @param guarded whether slots may be filled or reused while they are read
    WindowReads(
            final EndpointPort endpoint,
            final ReadBuffers buffers,
            final StreamInfo stream,
            final EndpointOffer window,
            final BooleanSupplier guarded,
            final Counts<ReadCount> counts) {
        this.counts = counts;
        this.endpoint = endpoint;
        this.buffers = buffers;
        this.stream = stream;
        this.window = window;
        this.guarded = guarded;
    }

    boolean isBusy() {
        return begun - (refused ? 1 : 0) != ended;
    }

    /// While the oldest read takes longer than this, no read begins: NACKs request missing datagrams.
    void slowAfter(final long limitNs) {
        slowNs = limitNs;
    }

    /// Begins to read datagrams.
    ///
    /// @return how many, from the first on, are being read; [RemoteMemory#NOT_READ] while reads are slow
    int read(final long firstSequence, final int count, final long nowNs) {
        if (endpoint.state() != EndpointPort.State.UP || refused) {
            return RemoteMemory.NOT_READ;
        }
        // Another connection, perhaps a broken one, may hold all slots for long.
        final boolean starved = !isBusy() && buffers.slots().isEmpty();
        final boolean late = isBusy() && nowNs - beganNs[(int) (ended % ReadSlots.SLOTS)] > slowNs;
        if (starved || late) {
            counts.add(ReadCount.SLOW, count);
            return RemoteMemory.NOT_READ;
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
        final boolean guards = guarded.getAsBoolean();
        if (buffers.slots().isEmpty() || endpoint.room() < (guards ? PARTS_GUARDED : PARTS) + ROOM_LEFT) {
            return false;
        }
        final int slot = buffers.slots().take();
        final int read = (int) (begun++ % ReadSlots.SLOTS);
        order[read] = slot;
        sequences[read] = sequence;
        beganNs[read] = nowNs;
        withGuards[read] = guards;
        refused = !post(slot, sequence & (stream.windowSlots() - 1), guards);
        return !refused;
    }

    // Once the endpoint took the first part, a read may land in the slot even where it refuses the rest.
    private boolean post(final int slot, final long at, final boolean guards) {
        return (!guards || guard(slot, at, false))
                && buffers.readPayload(
                        endpoint,
                        slot,
                        window.payload().address() + at * stream.slotBytes(),
                        window.payload().key())
                && buffers.readHeader(
                        endpoint,
                        slot,
                        window.headers().address() + at * stream.headerBytes(),
                        window.headers().key(),
                        guards ? EndpointPort.NO_TOKEN : slot)
                && (!guards || guard(slot, at, true));
    }

    private boolean guard(final int slot, final long at, final boolean after) {
        return buffers.readGuard(
                endpoint,
                slot,
                after,
                window.guards().address() + at * Long.BYTES,
                window.guards().key(),
                after ? slot : EndpointPort.NO_TOKEN);
    }

    /// A read's token came back: a wanted datagram becomes a repair.
    ///
    /// @return [#ARRIVED], or the sequence that was not read
    long end(final int slot) {
        final int read = (int) (ended++ % ReadSlots.SLOTS);
        if (order[read] != slot) {
            throw new IllegalStateException("reads of one endpoint ended out of order");
        }
        final int bytes = buffers.datagramBytes(slot, sequences[read]);
        // One that began without guards is of no use where slots may be reused by now.
        if (bytes > 0
                && (withGuards[read] ? buffers.isGuardValid(slot, sequences[read], bytes) : !guarded.getAsBoolean())) {
            buffers.slots().arrive(slot, bytes);
            counts.add(ReadCount.ARRIVED);
            return ARRIVED;
        }
        buffers.slots().giveBack(slot);
        counts.add(ReadCount.STALE);
        return sequences[read];
    }

    /// The endpoint is closed: nothing lands any more, and the slots are free.
    void abandon() {
        while (ended < begun) {
            buffers.slots().giveBack(order[(int) (ended++ % ReadSlots.SLOTS)]);
        }
    }
}
