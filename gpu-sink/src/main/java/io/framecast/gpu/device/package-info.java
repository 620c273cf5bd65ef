/// The parts that the CUDA and the emulated device share: the books of a device, deferred frees, bounds, the gather
/// kernel. Only these two devices call it.
@NullMarked
package io.framecast.gpu.device;

import org.jspecify.annotations.NullMarked;
