/// A transport's lanes as the protocol sees them, and the queue of slots that keeps a lane supplied. Engine
/// adapters and the simulator implement [io.framecast.reliability.lane.LanePort]; the sessions call it.
@NullMarked
package io.framecast.reliability.lane;

import org.jspecify.annotations.NullMarked;
