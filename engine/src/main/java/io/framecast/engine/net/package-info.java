/// The parts that transports of the engine share: a channel's network interface, and the counters of its lanes.
@NullMarked
package io.framecast.engine.net;

import org.jspecify.annotations.NullMarked;
