/// The memory that the processes of a simulated host share, and the ends of processes between two stores to it.
/// `reliability.sim` uses it.
@NullMarked
package io.framecast.reliability.sim.shared;

import org.jspecify.annotations.NullMarked;
