package io.framecast.reliability.session;

import io.framecast.reliability.receive.LossReason;
import io.framecast.reliability.receive.ReceivedFrame;

/// The taker of a session's frames: it passes frames to the user, and gives them back when the user has released
/// them. It holds frames and losses until the user polls them.
///
/// Called by the session's thread; never calls the session.
public interface FrameConsumer {
    /// No frame was released.
    long NO_PLACE = -1;

    /// Whether one more frame can be taken.
    boolean hasRoom();

    /// Takes a frame at the place that the session located, and with it the buffer that it lies in. Only while
    /// [#hasRoom].
    ///
    /// @param frame valid during the call
    /// @param place the value that [#nextReleased] returns for this frame
    void onFrame(ReceivedFrame frame, long place);

    /// The place of the next frame that the user has released, or [#NO_PLACE].
    long nextReleased();

    /// Takes back the oldest frame that the user has not polled.
    ///
    /// @return its place, or [#NO_PLACE]; [#takenBackId] is its number
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
