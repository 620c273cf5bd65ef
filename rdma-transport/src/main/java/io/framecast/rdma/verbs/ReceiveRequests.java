package io.framecast.rdma.verbs;

import java.lang.foreign.Arena;

/// A ring of receive requests: request `slot` is a scatter list of up to `elements` buffers, which are filled in order.
public final class ReceiveRequests extends RequestRing {
    public ReceiveRequests(final Arena arena, final int slots, final int elements) {
        super(arena, VerbsLayouts.RECV_WR, slots, elements, "ibv_post_recv");
    }

    @Override
    int postChain(final QueuePair queuePair, final long first, final long refused) {
        return queuePair.postReceives(first, refused);
    }
}
