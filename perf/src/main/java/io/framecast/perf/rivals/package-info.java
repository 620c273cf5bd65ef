/// Ways of carrying frames between processes of this machine: Framecast by its public interface, and what it is
/// measured
/// against.
@NullMarked
package io.framecast.perf.rivals;

import org.jspecify.annotations.NullMarked;
