package io.framecast.rdma.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The path to a receiver, as the device holds it. Posted sends may still need it: close it after they completed.
public final class AddressHandle extends Handle {
    private final AddressPath path;

    private AddressHandle(final ProtectionDomain domain, final MemorySegment handle, final AddressPath path) {
        super(domain.library(), handle, "ibv_destroy_ah", "address handle to " + path.destination(), domain);
        this.path = path;
    }

    static AddressHandle create(final ProtectionDomain domain, final AddressPath path) {
        try (Arena scratch = Arena.ofConfined()) {
            final MemorySegment attributes = scratch.allocate(VerbsLayouts.AH_ATTR);
            path.write(attributes);
            final String what = path.destination() + " from " + domain.context().name();
            return new AddressHandle(
                    domain, domain.verbs().make("ibv_create_ah", what, domain.pointer(), attributes), path);
        }
    }

    public AddressPath path() {
        return path;
    }
}
