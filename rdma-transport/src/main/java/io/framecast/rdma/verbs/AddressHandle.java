package io.framecast.rdma.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A way that datagrams can take. Sends already posted may still need it: close it after they completed.
public final class AddressHandle extends Handle {
    private final AddressPath path;

    private AddressHandle(final ProtectionDomain domain, final MemorySegment handle, final AddressPath path) {
        super(domain.library(), handle, domain);
        this.path = path;
    }

    static AddressHandle create(final ProtectionDomain domain, final AddressPath path) {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment capture = Downcalls.newCapture(scratch);
            final MemorySegment attributes = scratch.allocate(VerbsLayouts.AH_ATTR);
            path.write(attributes);
            final MemorySegment handle =
                    Downcalls.pointer(domain.verbs().createAh, capture, domain.pointer(), attributes);
            return new AddressHandle(
                    domain,
                    check(
                            handle,
                            capture,
                            "ibv_create_ah",
                            path.destination() + " from " + domain.context().name()),
                    path);
        }
    }

    public AddressPath path() {
        return path;
    }

    @Override
    void release(final MemorySegment capture, final MemorySegment released) {
        check(Downcalls.intOf(verbs().destroyAh, capture, released), capture, "ibv_destroy_ah", this);
    }

    @Override
    public String toString() {
        return "address handle to " + path.destination();
    }
}
