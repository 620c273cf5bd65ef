package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Reads the events of a device that belong to no request, such as a port that went down or a queue pair that broke,
/// and the MTU of a port, whose change causes no event. Allocates nothing while there is no event.
///
/// Threading: one thread at a time, which may be another than the one that makes handles. Memory is the arena's.
public final class AsyncEvents {
    private static final long STATE = VerbsLayouts.offset(VerbsLayouts.PORT_ATTR, "state");
    private static final long ACTIVE_MTU = VerbsLayouts.offset(VerbsLayouts.PORT_ATTR, "active_mtu");

    private final Context context;
    private final int port;
    private final MemorySegment getEvent;
    private final MemorySegment queryPort;
    private final MemorySegment capture;
    private final MemorySegment event;
    private final MemorySegment attributes;
    private final OncePerSecond reasons = new OncePerSecond();

    AsyncEvents(final Context context, final int port, final Arena arena) {
        this.context = context;
        this.port = port;
        getEvent = context.verbs().function("ibv_get_async_event");
        queryPort = context.verbs().function("ibv_query_port");
        capture = Downcalls.newCapture(arena);
        event = arena.allocate(VerbsLayouts.ASYNC_EVENT);
        attributes = arena.allocate(VerbsLayouts.PORT_ATTR);
    }

    /// @return null when no event waits; never blocks
    /// @throws io.framecast.api.error.NativeException when the device reports nothing any more
    public @Nullable AsyncEvent next() {
        final MemorySegment device = context.unblocked();
        // The hot call captures no errno, so it does not say why it found nothing.
        if (Downcalls.hot(getEvent, device.address(), event.address()) == 0 || (reasons.isDue() && hasEvent(device))) {
            final AsyncEvent read = AsyncEvent.read(event);
            // An unacknowledged event blocks the destruction of its object for ever.
            context.verbs().call("ibv_ack_async_event", event);
            return read;
        }
        return null;
    }

    private boolean hasEvent(final MemorySegment device) {
        if ((int) Downcalls.call(getEvent, capture, device, event) == 0) {
            return true;
        }
        final int errno = Downcalls.errno(capture);
        if (errno != VerbsErrors.EAGAIN && errno != VerbsErrors.EINTR) {
            throw VerbsErrors.of("ibv_get_async_event", errno, context.toString());
        }
        return false;
    }

    /// Asks the port. A call of the system.
    ///
    /// @return largest payload of a datagram, in bytes; 0 while the port is not active, or does not answer
    public int activeMtuBytes() {
        final int errno = Downcalls.hot(queryPort, context.pointer().address(), port, attributes.address());
        return errno != 0 || attributes.get(JAVA_INT, STATE) != PortAttributes.State.ACTIVE.ordinal()
                ? 0
                : PortAttributes.Mtu.bytes(attributes.get(JAVA_INT, ACTIVE_MTU));
    }
}
