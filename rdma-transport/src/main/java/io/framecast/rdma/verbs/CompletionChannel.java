package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Signals completions through a descriptor, so that a thread can sleep until there is one: [CompletionQueue#arm],
/// poll once more, wait until [#descriptor] is readable, [#drain], poll.
///
/// Threading: [#drain] by one thread at a time.
public final class CompletionChannel extends Handle {
    private final DescriptorMode mode;
    private final MemorySegment getEvent;
    private final MemorySegment ackEvents;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment capture = Downcalls.newCapture(arena);
    private final MemorySegment queue = arena.allocate(JAVA_LONG);
    private final MemorySegment queueContext = arena.allocate(JAVA_LONG);
    private final OncePerSecond reasons = new OncePerSecond();

    CompletionChannel(final Context context) {
        super(
                context.library(),
                context.verbs().make("ibv_create_comp_channel", context, context.pointer()),
                "ibv_destroy_comp_channel",
                "completion channel on " + context.name(),
                context);
        getEvent = verbs().function("ibv_get_cq_event");
        ackEvents = verbs().function("ibv_ack_cq_events");
        mode = new DescriptorMode(
                Verbs.intAt(pointer(), VerbsLayouts.COMP_CHANNEL, "fd"), "completions of " + context.name());
    }

    /// Polls readable after an armed queue got a completion, until [#drain]; it stays the channel's.
    public int descriptor() {
        requireOpen();
        return mode.descriptor();
    }

    /// Takes and acknowledges the events of the descriptor: an unacknowledged event would block the closing of its
    /// queue for ever. A queue that caused an event is no longer armed. Never blocks.
    ///
    /// @return events taken
    /// @throws io.framecast.api.error.NativeException when the channel reports nothing any more
    public int drain() {
        requireOpen();
        mode.unblock();
        int events = 0;
        while (Downcalls.hot(getEvent, address(), queue.address(), queueContext.address()) == 0) {
            acknowledge();
            events++;
        }
        // The hot call captures no errno, so it does not say why it found nothing.
        return events == 0 && reasons.isDue() ? drainOrThrow() : events;
    }

    private int drainOrThrow() {
        if ((int) Downcalls.call(getEvent, capture, pointer(), queue, queueContext) == 0) {
            acknowledge();
            return 1;
        }
        final int errno = Downcalls.errno(capture);
        if (errno != VerbsErrors.EAGAIN && errno != VerbsErrors.EINTR) {
            throw VerbsErrors.of("ibv_get_cq_event", errno, toString());
        }
        return 0;
    }

    private void acknowledge() {
        Downcalls.hot(ackEvents, queue.get(JAVA_LONG, 0), 1);
    }

    @Override
    void onReleased() {
        arena.close();
    }
}
