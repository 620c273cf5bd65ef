/// The options of a simulated run: streams, audience, links, faults and injected bugs. `samples`, `perf` and
/// tests make them; `reliability.sim` draws from them.
@NullMarked
package io.framecast.reliability.sim.plan;

import org.jspecify.annotations.NullMarked;
