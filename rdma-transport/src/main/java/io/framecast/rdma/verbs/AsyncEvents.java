package io.framecast.rdma.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Takes the events of a device that belong to no request: a port that went down, a queue pair that broke.
/// Allocates nothing while there is none.
///
/// Threading: one thread at a time, which may be another than the one that makes handles. Memory is the arena's.
public final class AsyncEvents {
    private final Context context;
    private final MemorySegment capture;
    private final MemorySegment event;

    AsyncEvents(final Context context, final Arena arena) {
        this.context = context;
        capture = Downcalls.newCapture(arena);
        event = arena.allocate(VerbsLayouts.ASYNC_EVENT);
    }

    /// @return null when nothing waits; never blocks
    /// @throws io.framecast.api.error.NativeException when the device tells nothing any more
    public @Nullable AsyncEvent next() {
        final MemorySegment device = context.unblocked(capture);
        if (Downcalls.intOf(context.verbs().getAsyncEvent, capture, device, event) != 0) {
            final int errno = Downcalls.errno(capture);
            if (errno == VerbsErrors.EAGAIN || errno == VerbsErrors.EINTR) {
                return null;
            }
            throw VerbsErrors.of("ibv_get_async_event", errno, context.toString());
        }
        final AsyncEvent read = AsyncEvent.read(event);
        // An event not acknowledged blocks the destruction of what it is about for ever.
        Downcalls.call(context.verbs().ackAsyncEvent, event);
        return read;
    }
}
