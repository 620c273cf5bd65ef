/// Clocks and intervals of the protocol, each a small state with the time as an argument: acknowledgements,
/// heartbeats, retries, round trips, standstills, pauses between lines and looks. Machines of every other
/// package, the engine and the simulator call it.
@NullMarked
package io.framecast.reliability.flow;

import org.jspecify.annotations.NullMarked;
