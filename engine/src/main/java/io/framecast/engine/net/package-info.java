/// The network interface that a channel uses, and the counters of its lanes: what the transports of the engine share.
@NullMarked
package io.framecast.engine.net;

import org.jspecify.annotations.NullMarked;
