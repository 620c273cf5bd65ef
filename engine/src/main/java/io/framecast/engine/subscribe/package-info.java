/// The subscriber, and the agent that runs its [io.framecast.reliability.session.ReceiveSession]s over the
/// transport's lanes and a device's memory. `engine.node` calls it.
@NullMarked
package io.framecast.engine.subscribe;

import org.jspecify.annotations.NullMarked;
