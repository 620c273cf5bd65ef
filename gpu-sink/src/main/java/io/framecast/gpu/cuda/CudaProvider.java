package io.framecast.gpu.cuda;

import io.framecast.api.error.DeviceException;
import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.spi.DeviceBackend;
import java.util.Optional;

/// `device=cuda:N`, where a driver and a GPU are.
public final class CudaProvider implements DeviceBackendProvider {
    private static final int RANK = 300;

    @Override
    public String kind() {
        return "cuda";
    }

    @Override
    public Naming naming() {
        return Naming.ORDINAL;
    }

    @Override
    public Optional<String> unavailable() {
        return CudaDriver.unavailable();
    }

    @Override
    public int rank() {
        return RANK;
    }

    @Override
    public int deviceCount() {
        return CudaDriver.deviceCount();
    }

    @Override
    public Optional<String> pciAddress(final int ordinal) {
        return unavailable().isEmpty() ? CudaDriver.pciAddress(ordinal) : Optional.empty();
    }

    @Override
    public DeviceBackend open(final int ordinal) {
        final Optional<String> unavailable = unavailable();
        if (unavailable.isPresent()) {
            throw new DeviceException("cuda:" + ordinal + ": " + unavailable.get()
                    + "; install the NVIDIA driver or use device=emulated");
        }
        if (ordinal < 0 || ordinal >= deviceCount()) {
            throw new DeviceException(
                    "cuda:" + ordinal + ": there is no such GPU; expected cuda:0 to cuda:" + (deviceCount() - 1));
        }
        return new CudaBackend(ordinal);
    }
}
