package io.framecast.reliability.sim.shared;

/// A point of its program at which a process may die.
public enum Step {
    /// In front of a store to shared memory, or of a datagram.
    STORE,
    /// In front of a store to an entry of the frame table.
    ENTRY,
    /// A datagram was sent.
    SENT
}
