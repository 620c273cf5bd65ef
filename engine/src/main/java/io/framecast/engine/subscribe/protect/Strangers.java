package io.framecast.engine.subscribe.protect;

/// Hears of sources that a subscription cannot listen to.
public interface Strangers {
    /// Whether [#onStranger] is to be called again, where there is a stranger.
    boolean isStrangerDue(long nowNs);

    /// A source is heard that the subscription cannot listen to.
    void onStranger(String reason, long nowNs);
}
