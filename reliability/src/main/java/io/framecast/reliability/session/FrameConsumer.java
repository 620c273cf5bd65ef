package io.framecast.reliability.session;

import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.receive.ReceivedFrame;

/// The taker of a session's frames: it passes frames to the user, and gives them back when the user has released
/// them. It holds frames and losses until the user polls them.
///
/// Called by the session's thread; never calls the session.
public interface FrameConsumer {
    /// No frame was released.
    long NONE = -1;

    /// Whether one more frame can be taken.
    boolean hasRoom();

    /// Whether a frame of that many bytes must lie in a buffer that the user posted; that buffer is
    /// [io.framecast.reliability.assembly.FrameMemory.Space#POSTED] until the next call.
    boolean wantsPosted(long bytes);

    /// Takes a frame at the place that the session located. Only while [#hasRoom].
    ///
    /// @param frame valid during the call
    /// @param place the value that [#nextReleased] returns for this frame
    void onFrame(ReceivedFrame frame, long place);

    /// The memory of the posted buffer named last was closed while a frame was copied into it.
    ///
    /// @return whether that is so: the frame takes the next buffer in the next cycle
    boolean isPostedGone(long bytes);

    /// The place of the next frame that the user has released, or [#NONE].
    long nextReleased();

    /// Takes back the oldest frame that the user has not polled.
    ///
    /// @return its place, or [#NONE]; [#takenBackId] is its number
    long takeBack();

    long takenBackId();

    /// The next frames of the stream are lost. They may be gathered until [#flushLosses].
    void onLoss(long firstFrameId, long count, LossReason reason);

    /// Frames on their way to the user are lost. Only while [#hasRoomForLosses].
    void onLateLoss(long firstFrameId, long count, LossReason reason);

    /// Whether [#onLateLoss] may be called, and [#flushLosses] succeeds.
    boolean hasRoomForLosses();

    /// Makes every loss so far visible to the user.
    ///
    /// @return false when there is no room
    boolean flushLosses();

    /// Whether the user can find every loss so far.
    boolean areLossesFlushed();

    /// Whether the user has polled every visible loss.
    boolean areLossesHeard();
}
