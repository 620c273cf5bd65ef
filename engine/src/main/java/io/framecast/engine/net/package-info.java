/// The network interface that a channel uses. The transports of the engine that use the network call it.
@NullMarked
package io.framecast.engine.net;

import org.jspecify.annotations.NullMarked;
