package io.framecast.reliability.membership;

import io.framecast.reliability.receive.ReceiverMachine.State;
import io.framecast.reliability.wire.LeaveLayout.Reason;

/// The progress of one session's protocol, as far as decisions about the membership depend on it.
public interface Progress {
    State state();

    /// The reason for the state LOST or REFUSED.
    Reason lostReason();

    /// Silence after which the source is lost, in nanoseconds.
    long silenceNs();

    /// Whether the receiver became a member.
    boolean isStarted();

    /// Whether delivery is complete for good.
    boolean isEnded();

    /// The first frame that was neither delivered nor reported lost, once delivery is complete.
    long nextFrameId();
}
