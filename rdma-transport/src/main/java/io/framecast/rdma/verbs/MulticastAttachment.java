package io.framecast.rdma.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A queue pair's place in a group; closing it leaves the group.
public final class MulticastAttachment extends Handle {
    private final QueuePair queuePair;
    private final Gid group;
    private final int lid;

    private MulticastAttachment(final QueuePair queuePair, final Gid group, final int lid) {
        super(queuePair.library(), queuePair.pointer(), queuePair);
        this.queuePair = queuePair;
        this.group = group;
        this.lid = lid;
    }

    static MulticastAttachment attach(final QueuePair queuePair, final Gid group, final int lid) {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment capture = Downcalls.newCapture(scratch);
            check(
                    Downcalls.multicast(
                            queuePair.verbs().attachMcast, capture, queuePair.pointer(), gid(scratch, group), lid),
                    capture,
                    "ibv_attach_mcast",
                    group + " to " + queuePair);
        }
        return new MulticastAttachment(queuePair, group, lid);
    }

    private static MemorySegment gid(final Arena scratch, final Gid gid) {
        final MemorySegment raw = scratch.allocate(Gid.BYTES, Long.BYTES);
        gid.write(raw, 0);
        return raw;
    }

    public Gid group() {
        return group;
    }

    @Override
    void release(final MemorySegment capture, final MemorySegment released) {
        try (Arena scratch = Arena.ofConfined()) {
            // The kernel forgets the attachment before it asks the device, whatever that says: there is no second try,
            // and what is left of it goes with the queue pair.
            Downcalls.multicast(verbs().detachMcast, capture, released, gid(scratch, group), lid);
        }
    }

    @Override
    public String toString() {
        return "group " + group + " of " + queuePair;
    }
}
