package io.framecast.gpu;

import io.framecast.api.spi.DeviceKernel;

/// @param function the CUfunction
record CudaKernel(CudaBackend backend, String name, long function) implements DeviceKernel {}
