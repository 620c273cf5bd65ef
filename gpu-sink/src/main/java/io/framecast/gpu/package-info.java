/// GPUs behind the [io.framecast.api.spi.DeviceBackend] SPI. `CudaBackend` drives NVIDIA GPUs and is the only user of
/// JCuda; the package `emulated` is a GPU for machines without one.
@NullMarked
package io.framecast.gpu;

import org.jspecify.annotations.NullMarked;
