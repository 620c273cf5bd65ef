package io.framecast.reliability.sim;

/// The three lanes of a session.
enum SimLane {
    DATA,
    REPAIR,
    CONTROL
}
