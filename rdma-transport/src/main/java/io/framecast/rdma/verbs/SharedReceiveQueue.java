package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Receive requests for several queue pairs, taken first come, first served.
public final class SharedReceiveQueue extends Handle implements ReceiveQueue {
    private final ProtectionDomain domain;
    private final MemorySegment postReceive;

    private SharedReceiveQueue(final ProtectionDomain domain, final MemorySegment queue) {
        super(domain.library(), queue, domain);
        this.domain = domain;
        postReceive = domain.context().operations().postSharedReceive();
    }

    static SharedReceiveQueue create(final ProtectionDomain domain, final int requests, final int elements) {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment attributes = scratch.allocate(VerbsLayouts.SRQ_INIT_ATTR);
            attributes.set(JAVA_INT, VerbsLayouts.offset(VerbsLayouts.SRQ_INIT_ATTR, "attr", "max_wr"), requests);
            attributes.set(JAVA_INT, VerbsLayouts.offset(VerbsLayouts.SRQ_INIT_ATTR, "attr", "max_sge"), elements);
            final String what = requests + " receives of " + elements;
            return new SharedReceiveQueue(
                    domain, domain.verbs().make("ibv_create_srq", what, domain.pointer(), attributes));
        }
    }

    ProtectionDomain domain() {
        return domain;
    }

    @Override
    public int postReceives(final long first, final long refused) {
        requireOpen();
        return Downcalls.call(postReceive, address(), first, refused);
    }

    @Override
    void release(final MemorySegment released) {
        verbs().require("ibv_destroy_srq", this, released);
    }

    @Override
    public String toString() {
        return "shared receive queue on " + domain.context().name();
    }
}
