package io.framecast.engine.memory;

import java.util.ArrayDeque;
import java.util.Deque;
import org.agrona.CloseHelper;

/// What a constructor has opened so far, for a try block around its body: closed again, newest first, unless the
/// constructor came to its end and said [#keep].
public final class RollbackOnFailure implements AutoCloseable {
    private final Deque<AutoCloseable> resources = new ArrayDeque<>();

    public <T extends AutoCloseable> T add(final T resource) {
        resources.push(resource);
        return resource;
    }

    /// The constructor is done: what was opened has its owner now.
    public void keep() {
        resources.clear();
    }

    @Override
    public void close() {
        CloseHelper.closeAll(resources);
    }
}
