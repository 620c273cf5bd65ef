package io.framecast.api;

/// Takes reports of frames that will never be given.
@FunctionalInterface
public interface LossHandler {
    /// Frames `firstFrameId … firstFrameId + count − 1` were given up.
    ///
    /// @param count at least 1
    void onLoss(long firstFrameId, long count, LossReason reason);
}
