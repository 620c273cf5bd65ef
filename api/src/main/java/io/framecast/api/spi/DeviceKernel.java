package io.framecast.api.spi;

/// A loaded kernel of one backend, launched through [DeviceStream#launch]. Freed with its backend.
public interface DeviceKernel {
    String name();
}
