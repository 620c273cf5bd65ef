/// Chaos: a publisher and its subscribers as real processes on a lossy network of their own, killed, stopped, cut off
/// and shouted at, with what must come of each fault stated before and checked after.
@NullMarked
package io.framecast.perf.chaos;

import org.jspecify.annotations.NullMarked;
