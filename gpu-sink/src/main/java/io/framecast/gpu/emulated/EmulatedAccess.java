package io.framecast.gpu.emulated;

import io.framecast.api.spi.DeviceAccess;
import io.framecast.api.spi.DeviceMapping;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceResources;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/// The mapping of an emulated device's memory, for a channel that asks for it, and its export, for a NIC of tests.
/// A channel that leaves the choice never gets the mapping: stores of the CPU into its own memory would always win,
/// which means nothing for a GPU.
final class EmulatedAccess implements DeviceAccess {
    private final EmulatedDevice device;

    EmulatedAccess(final EmulatedDevice device) {
        this.device = device;
    }

    @Override
    public Optional<String> exportRefusal() {
        return device.config().exports() ? Optional.empty() : Optional.of("no NIC writes into an emulated device");
    }

    @Override
    public DeviceRegion export(final DeviceRegion region) {
        device.checkUsable();
        final int descriptor = device.shared(region).export();
        device.resources().take(DeviceResources.Kind.EXPORTS, 1);
        return new DeviceRegion(region.address(), region.bytes(), descriptor, MemorySegment.NULL);
    }

    @Override
    public void unexport(final DeviceRegion region) {
        SharedMemory.close(region.dmaBufDescriptor());
        device.resources().give(DeviceResources.Kind.EXPORTS, 1);
    }

    @Override
    public Optional<String> mappingRefusal() {
        return Optional.of("an emulated device is mapped only where placement=fastcopy asks for it");
    }

    @Override
    public DeviceMapping map(final DeviceRegion region) {
        device.checkUsable();
        final EmulatedMapping mapping =
                new EmulatedMapping(device, device.resolve("map", region.address(), region.bytes()), region);
        device.resources().take(DeviceResources.Kind.MAPPINGS, 1);
        return mapping;
    }
}
