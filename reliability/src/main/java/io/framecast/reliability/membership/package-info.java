/// The memberships of a subscriber in the sessions of its sources: when it joins a source, gives a join up, backs
/// off, waits for a lost source and joins it again. The engine's subscriptions and the simulator's receivers call
/// it.
@NullMarked
package io.framecast.reliability.membership;

import org.jspecify.annotations.NullMarked;
