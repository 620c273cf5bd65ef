package io.framecast.rdma.verbs;

import java.lang.foreign.MemorySegment;

/// Memory that a device may reach. Its keys are valid until it closes; a request that names them later fails
/// alone, with a completion that says so.
public final class MemoryRegion extends Handle {
    private final int localKey;
    private final int remoteKey;
    private final boolean isDmaBuf;

    MemoryRegion(final ProtectionDomain domain, final MemorySegment region, final long bytes, final boolean isDmaBuf) {
        super(
                domain.library(),
                region,
                "ibv_dereg_mr",
                "memory region of " + bytes + " bytes on " + domain.context().name(),
                domain);
        this.isDmaBuf = isDmaBuf;
        localKey = Verbs.intAt(region, VerbsLayouts.MR, "lkey");
        remoteKey = Verbs.intAt(region, VerbsLayouts.MR, "rkey");
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
}
