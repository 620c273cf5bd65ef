package io.framecast.reliability.session;

import io.framecast.reliability.assembly.BufferQueue;

/// The buffers that a user posts when a test says so.
final class TestUserBuffers implements BufferQueue {
    /// Whether frames must lie in the user's own buffer.
    boolean posts;

    private final TestFrameMemory memory;

    TestUserBuffers(final TestFrameMemory memory) {
        this.memory = memory;
    }

    @Override
    public int buffers() {
        return posts ? 8 : 0;
    }

    @Override
    public int take(final long bytes) {
        return posts ? memory.post() : NONE;
    }

    @Override
    public long bytes(final int number) {
        return memory.posted(number).byteSize();
    }

    @Override
    public boolean isGone(final int number) {
        return memory.postedClosed;
    }

    @Override
    public void giveBack(final int number) {
        // The memory serves no other frame.
    }
}
