package io.framecast.engine.spi;

import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.spi.DeviceBackend;
import java.util.Optional;

/// A kind of device that no module of Framecast knows: `test:0`.
public final class TestDeviceProvider implements DeviceBackendProvider {
    @Override
    public String kind() {
        return "test";
    }

    @Override
    public Optional<String> unavailable() {
        return Optional.empty();
    }

    @Override
    public int rank() {
        return 0;
    }

    /// No: other tests ask for `auto` and expect host memory.
    @Override
    public boolean isAutomatic() {
        return false;
    }

    @Override
    public int deviceCount() {
        return 1;
    }

    @Override
    public DeviceBackend open(final int ordinal) {
        return new TestDevice();
    }
}
