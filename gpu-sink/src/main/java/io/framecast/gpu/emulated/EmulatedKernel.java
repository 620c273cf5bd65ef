package io.framecast.gpu.emulated;

import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.KernelSource;

/// A kernel as its Java form.
record EmulatedKernel(EmulatedDevice device, String name, KernelSource.Emulation emulation, boolean persistent)
        implements DeviceKernel {}
