package io.framecast.engine.hostgroup;

import io.framecast.api.LossReason;
import io.framecast.api.SourceEvent;

/// What a follower finds in its leader's table besides frames. On the thread that polls it.
interface FollowerEvents {
    void onLoss(long session, long firstFrameId, long count, LossReason reason);

    /// @param kind JOINED for every session; ENDED or LOST for its end
    void onSource(long session, SourceEvent.Kind kind);
}
