package io.framecast.rdma.verbs;

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

    MemoryRegion(
            final ProtectionDomain domain,
            final MemorySegment region,
            final long start,
            final long bytes,
            final boolean isDmaBuf) {
        super(domain.library(), region, domain);
        this.domain = domain;
        this.start = start;
        this.bytes = bytes;
        this.isDmaBuf = isDmaBuf;
        localKey = Verbs.intAt(region, VerbsLayouts.MR, "lkey");
        remoteKey = Verbs.intAt(region, VerbsLayouts.MR, "rkey");
    }

    /// The address of the first byte in requests.
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
    void release(final MemorySegment released) {
        verbs().require("ibv_dereg_mr", this, released);
    }

    @Override
    public String toString() {
        return "memory region of " + bytes + " bytes on " + domain.context().name();
    }
}
