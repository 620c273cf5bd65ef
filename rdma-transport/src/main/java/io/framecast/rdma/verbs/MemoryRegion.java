package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.framecast.rdma.verbs.Downcalls.Registration;
import java.lang.foreign.MemorySegment;

/// Memory that a device may reach. Its keys are valid until it closes; a request that names them later fails
/// alone, with a completion that says so.
public final class MemoryRegion extends Handle {
    private final ProtectionDomain domain;
    private final long start;
    private final long bytes;
    private final int localKey;
    private final int remoteKey;
    private final boolean isDmaBuf;

    MemoryRegion(final ProtectionDomain domain, final MemorySegment region, final Registration what) {
        super(domain.library(), region, domain);
        this.domain = domain;
        start = what.address();
        bytes = what.bytes();
        isDmaBuf = what.descriptor() != ProtectionDomain.NO_DESCRIPTOR;
        final MemorySegment view = Verbs.view(region, VerbsLayouts.MR);
        localKey = view.get(JAVA_INT, VerbsLayouts.offset(VerbsLayouts.MR, "lkey"));
        remoteKey = view.get(JAVA_INT, VerbsLayouts.offset(VerbsLayouts.MR, "rkey"));
    }

    /// What requests call the first byte.
    public long start() {
        return start;
    }

    public long bytes() {
        return bytes;
    }

    /// Whether it was registered by the descriptor of a dma-buf, not by its address.
    public boolean isDmaBuf() {
        return isDmaBuf;
    }

    /// For requests of this side.
    public int localKey() {
        return localKey;
    }

    /// For requests of a peer.
    public int remoteKey() {
        return remoteKey;
    }

    @Override
    void release(final MemorySegment capture, final MemorySegment released) {
        check(Downcalls.intOf(verbs().deregMr, capture, released), capture, "ibv_dereg_mr", this);
    }

    @Override
    public String toString() {
        return "memory region of " + bytes + " bytes on " + domain.context().name();
    }
}
