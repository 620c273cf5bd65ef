/// The lanes of a subscription and of each of its sessions, one-sided access to peers' memory, and the service of
/// a session as a co-root. `engine.subscribe` calls it.
@NullMarked
package io.framecast.engine.subscribe.lanes;

import org.jspecify.annotations.NullMarked;
