package io.framecast.api;

import java.lang.foreign.MemorySegment;

/// A slice of the send window, between [Publisher#tryClaim] and [#commit] or [#abort]. Reusable; owned by the
/// publisher's thread. The segment must not be touched after either.
public final class FrameClaim {
    /// Called by a claim when it ends.
    public interface Owner {
        void commit(FrameOptions options);

        void abort();

        /// Whether it takes nothing any more: what was committed last may have been dropped.
        default boolean isClosed() {
            return false;
        }
    }

    private MemorySegment segment = MemorySegment.NULL;
    private Owner owner = NONE;

    private static final Owner NONE = new Owner() {
        @Override
        public void commit(final FrameOptions options) {
            throw new IllegalStateException("nothing is claimed: call tryClaim first");
        }

        @Override
        public void abort() {
            // Nothing claimed, nothing to give back.
        }
    };

    /// For publishers: hands out a slice.
    public void wrap(final MemorySegment slice, final Owner publisher) {
        segment = slice;
        owner = publisher;
    }

    /// The frame's bytes, to be written by the caller.
    public MemorySegment segment() {
        return segment;
    }

    /// Publishes the frame.
    ///
    /// @return false when the publisher is closed or has failed: then the frame may have been dropped
    public boolean commit(final FrameOptions options) {
        final Owner publisher = owner;
        reset();
        publisher.commit(options);
        return !publisher.isClosed();
    }

    /// Gives the slice back unpublished.
    public void abort() {
        final Owner publisher = owner;
        reset();
        publisher.abort();
    }

    private void reset() {
        segment = MemorySegment.NULL;
        owner = NONE;
    }
}
