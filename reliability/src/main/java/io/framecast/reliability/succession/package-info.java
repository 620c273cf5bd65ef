/// Succession in a host group: which member leads, and how the membership at the source passes from a leader that
/// is gone to a follower. [io.framecast.reliability.succession.SuccessionMachine] decides. The engine's host
/// groups and the simulator drive it.
@NullMarked
package io.framecast.reliability.succession;

import org.jspecify.annotations.NullMarked;
