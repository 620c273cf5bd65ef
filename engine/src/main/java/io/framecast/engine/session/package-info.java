/// The parts that publishers and subscribers share: the node as they see it, counters, queues of agents, waiting and
/// bounds on
/// memory. `engine.publish`, `engine.subscribe` and `engine.node` call it.
@NullMarked
package io.framecast.engine.session;

import org.jspecify.annotations.NullMarked;
