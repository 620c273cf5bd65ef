package io.framecast.reliability.sim.net;

/// The three lanes of a session.
public enum SimLane {
    DATA,
    REPAIR,
    CONTROL
}
