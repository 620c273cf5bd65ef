/// A receiver's part in one session as the engine and the simulator run it: the whole cycle from polling the
/// lanes to granting credit, over the ports [io.framecast.reliability.lane.LanePort],
/// [io.framecast.reliability.assembly.FrameMemory] and [io.framecast.reliability.receive.FrameConsumer].
@NullMarked
package io.framecast.reliability.receive;

import org.jspecify.annotations.NullMarked;
