package io.framecast.reliability.assembly;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/// The user's buffers, each as long as the longest frame.
final class TestBuffers implements BufferQueue {
    /// Numbers of the buffers that are posted, in order.
    final ArrayDeque<Integer> posted = new ArrayDeque<>();
    /// Numbers of the buffers that were given back.
    final List<Integer> returned = new ArrayList<>();
    /// Whether the user has freed their memory.
    boolean gone;

    @Override
    public int buffers() {
        return posted.size();
    }

    @Override
    public int take(final long bytes) {
        return posted.isEmpty() ? NONE : posted.remove();
    }

    @Override
    public long bytes(final int number) {
        return TestShape.BUFFER_BYTES;
    }

    @Override
    public boolean isGone(final int number) {
        return gone;
    }

    @Override
    public void giveBack(final int number) {
        returned.add(number);
    }
}
