/// The parts that the CUDA and the emulated device share: allocations and resources, deferred frees, bounds, the
/// gather kernel. Only these two devices call it.
@NullMarked
package io.framecast.gpu.device;

import org.jspecify.annotations.NullMarked;
