/// The memory that the processes of a host group share, and its rules: the frame table that a leader writes, the
/// cursors of the members that read it, checkpoints for a successor, formats, frames that users hold, and device
/// memory. docs/host-segment.md has the layout. The memory itself is behind a port ([SegmentMemory]): mapped by
/// the engine, an array in the simulator.
///
/// The engine's host groups and the simulator call it.
@NullMarked
package io.framecast.reliability.group;

import org.jspecify.annotations.NullMarked;
