package io.framecast.engine.ready;

/// Wakes an agent's thread for work that no descriptor shows.
@FunctionalInterface
public interface Wakeup {
    /// Does nothing: for agents that never sleep, or look for work themselves.
    Wakeup NONE = () -> {};

    /// Any thread calls it, after it has written what the agent must see. Costs a fence unless the agent
    /// sleeps.
    void wake();
}
