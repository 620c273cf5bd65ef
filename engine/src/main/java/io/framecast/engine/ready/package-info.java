/// Waiting for descriptors, for other threads and for time at once: [ReadyIdle] for agents, [ReadySet] for
/// transports, and [Uninterrupted] for threads that must finish. The node and the transports of the engine call
/// it.
@NullMarked
package io.framecast.engine.ready;

import org.jspecify.annotations.NullMarked;
