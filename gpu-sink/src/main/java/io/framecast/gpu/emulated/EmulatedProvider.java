package io.framecast.gpu.emulated;

import io.framecast.api.error.DeviceException;
import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.spi.DeviceBackend;
import java.util.Optional;

/// `device=emulated:N`. Always there; `device=auto` leaves it out and `auto,emulated` takes it where no GPU is.
public final class EmulatedProvider implements DeviceBackendProvider {
    private static final int RANK = 200;
    private static final int DEVICES = 16;

    private static volatile EmulatedConfig config = EmulatedConfig.DEFAULT;

    /// Sets the configuration of all devices that this process opens from now on: for benches and tests.
    public static void configure(final EmulatedConfig value) {
        config = value;
    }

    @Override
    public String kind() {
        return "emulated";
    }

    @Override
    public Optional<String> unavailable() {
        return Optional.empty();
    }

    /// No: an emulated GPU is taken only by users who name it.
    @Override
    public boolean isAutomatic() {
        return false;
    }

    @Override
    public int rank() {
        return RANK;
    }

    @Override
    public int deviceCount() {
        return DEVICES;
    }

    @Override
    public DeviceBackend open(final int ordinal) {
        if (ordinal < 0 || ordinal >= DEVICES) {
            throw new DeviceException("emulated:" + ordinal + ": expected emulated:0 to emulated:" + (DEVICES - 1));
        }
        return new EmulatedDevice(ordinal, config);
    }
}
