package io.framecast.engine.memory;

import io.framecast.api.error.DeviceException;
import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.spi.DeviceBackend;
import java.util.Optional;

/// Offers `host`: always there, and the last choice of `device=auto`.
public final class HostProvider implements DeviceBackendProvider {
    private static final int RANK = 0;

    @Override
    public String kind() {
        return HostBackend.NAME;
    }

    @Override
    public Naming naming() {
        return Naming.KIND;
    }

    @Override
    public Optional<String> unavailable() {
        return Optional.empty();
    }

    @Override
    public int rank() {
        return RANK;
    }

    @Override
    public int deviceCount() {
        return 1;
    }

    @Override
    public DeviceBackend open(final int ordinal) {
        if (ordinal != 0) {
            throw new DeviceException("host: expected device 0, got " + ordinal);
        }
        return new HostBackend();
    }
}
