package io.framecast.rdma;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Deque;

/// What a lane has opened, with memory of its own. Closed in the opposite order.
///
/// One thread.
final class LaneResources implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    Arena arena() {
        return arena;
    }

    <T extends AutoCloseable> T keep(final T resource) {
        opened.push(resource);
        return resource;
    }

    /// The caller closes a resource before the others.
    void release(final AutoCloseable resource) {
        opened.remove(resource);
    }

    /// Closes every resource, also after one of them refuses.
    @Override
    public void close() {
        RuntimeException refused = null;
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (final RuntimeException e) {
                refused = e;
            } catch (final Exception e) {
                throw new AssertionError("no resource of a lane throws checked exceptions", e);
            }
        }
        arena.close();
        if (refused != null) {
            throw refused;
        }
    }
}
