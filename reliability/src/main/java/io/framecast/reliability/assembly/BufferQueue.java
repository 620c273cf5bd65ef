package io.framecast.reliability.assembly;

/// The buffers that the user posted, in order, for the frames to come. A buffer that is taken has a number until
/// the frame in it is handed over, or the buffer is given back: [PostedOffset] locates it in
/// [FrameMemory.Space#POSTED].
///
/// Threading: the session's thread. The user may post at any time.
public interface BufferQueue {
    /// No buffer.
    int NONE = -1;
    /// Buffers with a number at a time, at most.
    int TAKEN_MAX = 256;
    /// Nothing is ever posted.
    BufferQueue EMPTY = new BufferQueue() {};

    /// Buffers that are posted and not taken.
    default int buffers() {
        return 0;
    }

    /// Takes the next buffer for a frame of that many bytes.
    ///
    /// @return its number; [#NONE] where no buffer is posted, or the next one is shorter
    default int take(final long bytes) {
        return NONE;
    }

    /// Length of a buffer that was taken.
    default long bytes(final int number) {
        return 0;
    }

    /// A copy into a buffer that was taken has failed.
    ///
    /// @return whether its owner has freed its memory: the buffer is not the caller's any more
    default boolean isGone(final int number) {
        return false;
    }

    /// The frame that a buffer was taken for is dropped: the next frame may take the buffer. Copies into it may
    /// still be under way.
    default void giveBack(final int number) {
        throw new IllegalArgumentException("no buffer was taken");
    }
}
