package io.framecast.rdma.verbs;

import io.framecast.api.error.TransportException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Where requests of queue pairs complete.
///
/// Threading: [#poll] and [#arm] by one thread at a time.
public final class CompletionQueue extends Handle {
    private final MemorySegment pollCq;
    private final MemorySegment requestNotify;

    private CompletionQueue(final Context context, final MemorySegment queue, final Handle... owners) {
        super(
                context.library(),
                queue,
                "ibv_destroy_cq",
                "completion queue of " + Verbs.intAt(queue, VerbsLayouts.CQ, "cqe") + " on " + context.name(),
                owners);
        pollCq = context.operations().pollCq();
        requestNotify = context.operations().requestNotify();
    }

    static CompletionQueue create(final Context context, final int entries, final @Nullable CompletionChannel channel) {
        if (channel != null && channel.context() != context) {
            throw new IllegalArgumentException(
                    "completion queue on " + context.name() + ": " + channel + " is not its");
        }
        final String what = entries + " completions on " + context.name();
        final MemorySegment notified = channel == null ? MemorySegment.NULL : channel.pointer();
        final MemorySegment queue = context.verbs()
                .make("ibv_create_cq", what, context.pointer(), entries, MemorySegment.NULL, notified, 0);
        return channel == null
                ? new CompletionQueue(context, queue, context)
                : new CompletionQueue(context, queue, context, channel);
    }

    /// Takes completions, oldest first, as many as fit. Never blocks, allocates nothing.
    ///
    /// @return how many; 0 when there is none
    public int poll(final WorkCompletions completions) {
        return poll(completions, completions.capacity());
    }

    /// Takes at most `countMax` completions.
    public int poll(final WorkCompletions completions, final int countMax) {
        requireOpen();
        final int room = Math.min(countMax, completions.capacity());
        final int count = Downcalls.poll(pollCq, address(), room, completions.target());
        if (count < 0) {
            // Drivers have codes of their own here, which are no errno.
            throw new TransportException("verbs: ibv_poll_cq: " + this + " failed (" + count
                    + "): it overran, or the device is gone; see dmesg");
        }
        completions.filled(count);
        return count;
    }

    /// Has the channel signal the next completion, once. It does not signal earlier completions: poll after arming.
    public void arm() {
        requireOpen();
        final int errno = Downcalls.hot(requestNotify, address(), 0);
        if (errno != 0) {
            throw VerbsErrors.of("ibv_req_notify_cq", Math.abs(errno), toString());
        }
    }
}
