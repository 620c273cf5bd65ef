package io.framecast.engine.memory;

import io.framecast.api.spi.DeviceKernel;
import io.framecast.api.spi.KernelSource;

/// A kernel that runs in Java.
record HostKernel(String name, KernelSource.Emulation emulation) implements DeviceKernel {}
