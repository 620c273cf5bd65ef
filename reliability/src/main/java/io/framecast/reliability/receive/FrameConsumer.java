package io.framecast.reliability.receive;

import io.framecast.reliability.LossReason;
import io.framecast.reliability.ReceivedFrame;

/// Whoever takes a session's frames: hands them to the user, and gives them back when the user is done. Holds
/// frames and losses until the user asks for them.
///
/// Called by the session's thread; never calls the session.
public interface FrameConsumer {
    /// No frame was released.
    long NONE = -1;

    /// Whether one more frame can be taken.
    boolean hasRoom();

    /// Whether a frame of so many bytes must lie in a buffer that the user posted; that buffer is
    /// [io.framecast.reliability.assembly.FrameMemory.Space#POSTED] until the next call.
    boolean wantsPosted(long bytes);

    /// Takes a frame that lies where the session located it. Only while [#hasRoom].
    ///
    /// @param frame valid during the call
    /// @param place comes back when the frame is released
    void onFrame(ReceivedFrame frame, long place);

    /// The posted buffer named last closed its memory while a frame was copied into it.
    ///
    /// @return whether that is so: the frame takes the next buffer in the next cycle
    boolean isPostedGone(long bytes);

    /// The place of the next frame that the user is done with, or [#NONE].
    long nextReleased();

    /// Takes back the oldest frame that the user has not polled.
    ///
    /// @return its place, or [#NONE]; [#takenBackId] tells its number
    long takeBack();

    long takenBackId();

    /// The next frames of the stream are lost. They may be gathered until [#flushLosses].
    void onLoss(long firstFrameId, long count, LossReason reason);

    /// Frames are lost that were on their way to the user. Only while [#hasRoomForLosses].
    void onLateLoss(long firstFrameId, long count, LossReason reason);

    /// Whether [#onLateLoss] may be called, and [#flushLosses] succeeds.
    boolean hasRoomForLosses();

    /// Has the user find every loss so far.
    ///
    /// @return false when there is no room
    boolean flushLosses();

    /// Whether the user can find every loss so far.
    boolean areLossesFlushed();

    /// Whether the user has heard of every loss that it can find.
    boolean areLossesHeard();
}
