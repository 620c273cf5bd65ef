package io.framecast.engine.session;

/// A publisher or subscriber, as its node's agents see it.
public interface SessionOwner {
    /// The session cannot go on.
    void onFailure(String reason);
}
