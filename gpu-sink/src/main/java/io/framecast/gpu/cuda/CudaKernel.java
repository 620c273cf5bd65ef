package io.framecast.gpu.cuda;

import io.framecast.api.spi.DeviceKernel;

/// @param function the CUfunction
/// @param persistent whether it runs until the host asks it to end
record CudaKernel(CudaBackend backend, String name, long function, boolean persistent) implements DeviceKernel {}
