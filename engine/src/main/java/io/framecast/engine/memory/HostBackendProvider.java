package io.framecast.engine.memory;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceBackendProvider;
import java.util.Optional;

/// The device `host`: always there, never taken by `auto` where a GPU, real or emulated, can be had.
public final class HostBackendProvider implements DeviceBackendProvider {
    @Override
    public String kind() {
        return "host";
    }

    @Override
    public Optional<String> unavailable() {
        return Optional.empty();
    }

    @Override
    public int rank() {
        return 0;
    }

    @Override
    public int deviceCount() {
        return 1;
    }

    @Override
    public DeviceBackend open(final int ordinal) {
        return new HostBackend();
    }
}
