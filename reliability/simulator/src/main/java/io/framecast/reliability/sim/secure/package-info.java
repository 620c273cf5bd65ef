/// Protected streams in simulated runs: checked ends of every process, and the adversary that sees all datagrams.
/// `reliability.sim` drives them; the engine implements [io.framecast.reliability.sim.secure.SimSecurity].
@NullMarked
package io.framecast.reliability.sim.secure;

import org.jspecify.annotations.NullMarked;
