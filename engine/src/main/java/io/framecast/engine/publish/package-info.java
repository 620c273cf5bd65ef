/// The publisher, and the agent that runs its [io.framecast.reliability.session.SendSession] over the transport's
/// lanes. `engine.node` calls it.
@NullMarked
package io.framecast.engine.publish;

import org.jspecify.annotations.NullMarked;
