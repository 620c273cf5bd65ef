package io.framecast.engine.memory;

import java.util.ArrayDeque;
import java.util.Deque;
import org.agrona.CloseHelper;

/// The resources that a constructor has opened so far, in a try block around its body. They are closed, newest
/// first, unless the constructor reached its end and called [#keep]. An object that owns nothing else keeps this list
/// as its own, and closes it.
public final class RollbackOnFailure implements AutoCloseable {
    private final Deque<AutoCloseable> resources = new ArrayDeque<>();

    public <T extends AutoCloseable> T add(final T resource) {
        resources.push(resource);
        return resource;
    }

    /// The constructor has succeeded: the new object owns the resources.
    public void keep() {
        resources.clear();
    }

    @Override
    public void close() {
        CloseHelper.closeAll(resources);
    }
}
