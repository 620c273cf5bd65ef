package io.framecast.rdma.verbs;

import java.lang.foreign.Arena;

/// A ring of receive requests: request `slot` is a scatter list of up to `elements` buffers, which are filled in order.
public final class ReceiveRequests extends RequestRing<ReceiveQueue> {
    /// @param tag goes into the upper half of each request's identifier, whose lower half is the slot
    public ReceiveRequests(final Arena arena, final int slots, final int elements, final int tag) {
        super(arena, VerbsLayouts.RECV_WR, slots, elements, "ibv_post_recv");
        for (int slot = 0; slot < slots; slot++) {
            request(slot, requestOf(tag, slot));
        }
    }

    static long requestOf(final int tag, final int slot) {
        return (long) tag << Integer.SIZE | slot;
    }

    /// The slot of a request's identifier.
    public static int slotOf(final long request) {
        return (int) request;
    }

    /// The tag of a request's identifier.
    public static int tagOf(final long request) {
        return (int) (request >>> Integer.SIZE);
    }

    @Override
    int postChain(final ReceiveQueue queue, final long first, final long refused) {
        return queue.postReceives(first, refused);
    }
}
