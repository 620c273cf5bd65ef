package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Asks a port for its MTU again and again: no event tells when it changes. Allocates nothing.
///
/// Threading: one thread at a time, which may be another than the one that makes handles. Memory is the arena's.
public final class PortWatch {
    private static final long STATE = VerbsLayouts.offset(VerbsLayouts.PORT_ATTR, "state");
    private static final long ACTIVE_MTU = VerbsLayouts.offset(VerbsLayouts.PORT_ATTR, "active_mtu");

    private final Context context;
    private final int port;
    private final MemorySegment capture;
    private final MemorySegment attributes;

    PortWatch(final Context context, final int port, final Arena arena) {
        this.context = context;
        this.port = port;
        capture = Downcalls.newCapture(arena);
        attributes = arena.allocate(VerbsLayouts.PORT_ATTR);
    }

    /// A call of the system.
    ///
    /// @return largest payload of a datagram; 0 while the port is not active, or does not answer
    public int activeMtuBytes() {
        final int error = Downcalls.queryPort(context.verbs().queryPort, capture, context.pointer(), port, attributes);
        return error != 0 || attributes.get(JAVA_INT, STATE) != VerbsConstants.IBV_PORT_ACTIVE
                ? 0
                : PortAttributes.Mtu.bytes(attributes.get(JAVA_INT, ACTIVE_MTU));
    }
}
