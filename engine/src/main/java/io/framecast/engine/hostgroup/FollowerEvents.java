package io.framecast.engine.hostgroup;

import io.framecast.api.LossReason;
import io.framecast.api.SourceEvent;

/// What a follower finds in its leader's table besides frames. On the thread that polls it.
interface FollowerEvents {
    void onLoss(long session, long firstFrameId, long count, LossReason reason);

    /// A session is read from a frame on, for the first time or by another leader's hands.
    void onFirst(long session, long frameId);

    /// Whether a frame was read, or reported lost, before.
    boolean isKnown(long session, long frameId);

    /// @param kind JOINED for every session; ENDED or LOST for its end
    void onSource(long session, SourceEvent.Kind kind);
}
