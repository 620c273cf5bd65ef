package io.framecast.engine.ready;

/// Wakes an agent's thread for work that no descriptor shows.
@FunctionalInterface
public interface Wakeup {
    /// Does nothing: for agents that never sleep, or poll for work themselves.
    Wakeup NONE = () -> {};

    /// Called by any thread after it has written the work that the agent must see. Costs a fence unless the agent
    /// sleeps.
    void wake();
}
