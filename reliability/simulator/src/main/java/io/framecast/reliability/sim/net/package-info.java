/// Time and transport of a simulated run: events, clocks, links, lanes and queues. `reliability.sim` puts them
/// together.
@NullMarked
package io.framecast.reliability.sim.net;

import org.jspecify.annotations.NullMarked;
