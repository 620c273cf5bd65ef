package io.framecast.engine.node;

/// A publisher or subscriber, as its node's agents see it.
interface SessionOwner {
    /// The session cannot go on.
    void onFailure(String reason);
}
