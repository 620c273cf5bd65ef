package io.framecast.reliability.receive;

/// Keeps what a successor of this receiver needs.
///
/// Called by the receiver's thread.
public interface CheckpointLog {
    /// Before the receiver tells that to its source.
    ///
    /// @param checkpoint reused; valid during the call
    void onCheckpoint(Checkpoint checkpoint);
}
