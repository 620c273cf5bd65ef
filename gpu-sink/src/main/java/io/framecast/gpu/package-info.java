/// What the CUDA and the emulated device share: tables of allocations, deferred frees, bounds, the gather
/// kernel, words that host and device both access. Only the packages below call it, and tests and benches for
/// [SharedWords].
@NullMarked
package io.framecast.gpu;

import org.jspecify.annotations.NullMarked;
