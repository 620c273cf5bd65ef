package io.framecast.engine.ready;

/// Tells an agent's thread that there is work which no descriptor shows.
@FunctionalInterface
public interface Wakeup {
    /// For agents that never sleep, or look for themselves.
    Wakeup NONE = () -> {};

    /// Any thread, after what the agent is to see was written. Costs a fence unless the agent sleeps.
    void wake();
}
