package io.framecast.rdma.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A queue pair's place in a group; closing it leaves the group.
public final class MulticastAttachment extends Handle {
    private final Gid group;
    private final int lid;

    private MulticastAttachment(final QueuePair queuePair, final Gid group, final int lid) {
        super(
                queuePair.library(),
                queuePair.pointer(),
                "ibv_detach_mcast",
                "group " + group + " of " + queuePair,
                queuePair);
        this.group = group;
        this.lid = lid;
    }

    static MulticastAttachment attach(final QueuePair queuePair, final Gid group, final int lid) {
        try (Arena scratch = Arena.ofConfined()) {
            queuePair
                    .verbs()
                    .require(
                            "ibv_attach_mcast",
                            group + " to " + queuePair,
                            queuePair.pointer(),
                            gid(scratch, group),
                            (short) lid);
        }
        return new MulticastAttachment(queuePair, group, lid);
    }

    private static MemorySegment gid(final Arena scratch, final Gid gid) {
        final MemorySegment raw = scratch.allocate(Gid.BYTES, Long.BYTES);
        gid.write(raw, 0);
        return raw;
    }

    // The kernel forgets the attachment before it asks the device, so a refusal changes nothing: the rest goes with the
    // queue pair.
    @Override
    void release(final MemorySegment released) {
        try (Arena scratch = Arena.ofConfined()) {
            verbs().errnoOf("ibv_detach_mcast", released, gid(scratch, group), (short) lid);
        }
    }
}
