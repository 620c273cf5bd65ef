package io.framecast.rdma;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.OneSidedEndpoint;
import io.framecast.rdma.verbs.Access;
import io.framecast.rdma.verbs.CompletionQueue;
import io.framecast.rdma.verbs.CompletionStatus;
import io.framecast.rdma.verbs.MemoryRegion;
import io.framecast.rdma.verbs.QueuePair;
import io.framecast.rdma.verbs.SendRequests;
import io.framecast.rdma.verbs.WorkCompletions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/// The send queue of an endpoint that acts: a ring of requests, each with a word of its own to write from.
/// Identifiers count posted requests, so one completion stands for all requests before it.
///
/// One thread.
final class RcOperations implements AutoCloseable {
    private static final int BATCH = 16;

    private final Arena arena = Arena.ofShared();
    private final int depth;
    private final CompletionQueue queue;
    private final QueuePair queuePair;
    private final SendRequests requests;
    private final WorkCompletions batch;
    private final MemorySegment words;
    private final MemoryRegion region;
    private final long[] tokens;
    private final Consumer<String> onBroken;
    private long posted;
    private long completed;

    /// @param onBroken takes the reason when the connection fails
    RcOperations(
            final int depth, final CompletionQueue queue, final QueuePair queuePair, final Consumer<String> onBroken) {
        this.depth = depth;
        this.onBroken = onBroken;
        this.queue = queue;
        this.queuePair = queuePair;
        try {
            requests = new SendRequests(arena, depth, 1);
            batch = new WorkCompletions(arena, BATCH);
            words = arena.allocate(JAVA_LONG, depth);
            region = queuePair.domain().register(words, Access.LOCAL_READ);
        } catch (final RuntimeException e) {
            arena.close();
            throw e;
        }
        tokens = new long[depth];
    }

    int room() {
        return (int) (depth - (posted - completed));
    }

    boolean write64(final long address, final int key, final long value, final long token) {
        final int slot = (int) (posted % depth);
        final long at = (long) slot * Long.BYTES;
        words.set(JAVA_LONG, at, value);
        requests.element(slot, 0, words.address() + at, Long.BYTES, region.localKey());
        requests.write(slot, address, key);
        return post(slot, token);
    }

    boolean read(final OneSidedEndpoint.Range target, final long address, final int key, final long token) {
        final int slot = element(target);
        requests.read(slot, address, key);
        return post(slot, token);
    }

    boolean write(final OneSidedEndpoint.Range source, final long address, final int key, final long token) {
        final int slot = element(source);
        requests.write(slot, address, key);
        return post(slot, token);
    }

    private int element(final OneSidedEndpoint.Range range) {
        final int slot = (int) (posted % depth);
        if (!(range.memory() instanceof RcMemory memory)) {
            throw new IllegalArgumentException("range: expected memory registered by this transport");
        }
        requests.element(slot, 0, memory.address() + range.offset(), range.bytes(), memory.localKey());
        return slot;
    }

    private boolean post(final int slot, final long token) {
        tokens[slot] = token;
        requests.request(slot, posted);
        requests.flags(slot, token != OneSidedEndpoint.NO_TOKEN, false);
        try {
            final int accepted = requests.post(queuePair, slot, 1);
            posted += accepted;
            return accepted > 0;
        } catch (final TransportException e) {
            onBroken.accept(String.valueOf(e.getMessage()));
            return false;
        }
    }

    int poll(final long[] done) {
        int count = 0;
        while (count < done.length && posted != completed) {
            final int polled = poll(Math.min(BATCH, done.length - count));
            for (int i = 0; i < polled; i++) {
                if (!batch.isSuccess(i)) {
                    onBroken.accept(CompletionStatus.describe(batch.status(i)));
                    return count;
                }
                // The device supplies the identifier: one that was never posted counts for nothing.
                completed = Math.min(posted, batch.request(i) + 1);
                done[count++] = tokens[(int) (batch.request(i) % depth)];
            }
            if (polled == 0) {
                break;
            }
        }
        return count;
    }

    private int poll(final int countMax) {
        try {
            return queue.poll(batch, countMax);
        } catch (final TransportException e) {
            // A queue that cannot be polled any more gives no errno, and is this connection's alone.
            onBroken.accept(String.valueOf(e.getMessage()));
            return 0;
        }
    }

    /// After the queue pair was closed.
    @Override
    public void close() {
        region.close();
        arena.close();
    }
}
