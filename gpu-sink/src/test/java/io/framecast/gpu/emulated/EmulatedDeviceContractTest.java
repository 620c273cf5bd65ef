package io.framecast.gpu.emulated;

import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceBackendContract;

class EmulatedDeviceContractTest extends DeviceBackendContract {
    @Override
    protected DeviceBackend open() {
        return new EmulatedProvider().open(0);
    }
}
