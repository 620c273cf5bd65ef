package io.framecast.reliability.receive;

/// Keeps the state that a successor of this receiver needs.
///
/// Called by the receiver's thread.
public interface CheckpointLog {
    /// Before the receiver reports that to its source.
    ///
    /// @param checkpoint reused; valid during the call
    void onCheckpoint(Checkpoint checkpoint);

    /// Whether a successor goes on from an earlier checkpoint: the receiver reports nothing new to its source any more.
    ///
    /// Asked after [#onCheckpoint]. A successor claims *before* it reads the checkpoint, and the receiver looks
    /// *after* it wrote one. So the successor reads all that the receiver reports.
    default boolean isSucceeded() {
        return false;
    }
}
