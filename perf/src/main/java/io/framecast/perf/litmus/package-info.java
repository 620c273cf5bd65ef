/// Litmus tests of the visibility contract: kernels that read a frame the moment they may, memory that is
/// written again the moment it may, and the same with a wait left out, which must be seen.
@NullMarked
package io.framecast.perf.litmus;

import org.jspecify.annotations.NullMarked;
