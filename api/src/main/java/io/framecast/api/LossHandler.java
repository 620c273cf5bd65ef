package io.framecast.api;

/// Takes reports of frames that will never be given.
@FunctionalInterface
public interface LossHandler {
    /// Frames `firstFrameId … firstFrameId + count − 1` were given up.
    ///
    /// @param count at least 1
    void onLoss(long firstFrameId, long count, LossReason reason);

    /// As above, with the session that the numbers belong to; this is the one that is called, and calls the
    /// other unless it is overridden.
    default void onLoss(final long session, final long firstFrameId, final long count, final LossReason reason) {
        onLoss(firstFrameId, count, reason);
    }
}
