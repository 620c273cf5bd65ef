/// NVIDIA GPUs behind the [io.framecast.api.spi.DeviceBackend] SPI; the only user of JCuda. `ServiceLoader`
/// finds `CudaProvider`; the engine calls the rest through the SPI.
@NullMarked
package io.framecast.gpu.cuda;

import org.jspecify.annotations.NullMarked;
