package io.framecast.gpu.emulated;

import io.framecast.api.spi.DeviceAccess;
import io.framecast.api.spi.DeviceAllocation;
import io.framecast.api.spi.DeviceMapping;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.DeviceResources;
import io.framecast.gpu.device.AllocationTable.Allocation;
import io.framecast.gpu.emulated.EmulatedConfig.Nics;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/// The mapping of an emulated device's memory, for a channel that asks for it, and its export: a descriptor for a NIC
/// of tests, or nothing but its address for any NIC of the host.
/// A channel that leaves the choice gets the mapping only where the rate of reads is modelled: stores of the CPU
/// into its own memory would always win, which means nothing for a GPU.
final class EmulatedAccess implements DeviceAccess {
    private final EmulatedDevice device;

    EmulatedAccess(final EmulatedDevice device) {
        this.device = device;
    }

    @Override
    public Optional<String> exportRefusal() {
        return device.config().nics() == Nics.NONE
                ? Optional.of(
                        "no NIC writes into an emulated device; emulated:N?peermem takes writes of NICs that know its"
                                + " memory by address")
                : Optional.empty();
    }

    @Override
    public DeviceRegion export(final DeviceRegion region) {
        device.checkUsable();
        device.resolve("export", region.address(), region.bytes());
        final int descriptor = device.config().nics() == Nics.BY_ADDRESS
                ? DeviceRegion.NO_DMA_BUF
                : device.shared(region).export();
        device.resources().take(DeviceResources.Kind.EXPORTS, 1);
        return new DeviceRegion(region.address(), region.bytes(), descriptor, MemorySegment.NULL);
    }

    @Override
    public DeviceRegion identify(final DeviceRegion region) {
        final Allocation found = device.allocation(region.address());
        if (found == null || !found.holds(region.address(), region.bytes())) {
            throw new IllegalArgumentException(device.name() + ": no memory of this device, or memory that is freed: "
                    + region.bytes() + " bytes at 0x" + Long.toHexString(region.address()));
        }
        return region.of(new Identified(device, found, found.backing().scope()));
    }

    /// @param scope no two allocations have the same
    private record Identified(EmulatedDevice device, Allocation allocation, MemorySegment.Scope scope)
            implements DeviceAllocation {
        @Override
        public boolean isAlive() {
            return scope.isAlive();
        }

        @Override
        public Optional<DmaBuf> export(final long address, final long bytes) {
            if (device.config().nics() != Nics.BY_DESCRIPTOR) {
                return Optional.empty();
            }
            final int descriptor = device.shared(DeviceRegion.ofDevice(allocation.address(), allocation.bytes()))
                    .export();
            return Optional.of(
                    new DmaBuf(descriptor, address - allocation.address(), () -> SharedMemory.close(descriptor)));
        }
    }

    @Override
    public void unexport(final DeviceRegion region) {
        if (region.dmaBufDescriptor() != DeviceRegion.NO_DMA_BUF) {
            SharedMemory.close(region.dmaBufDescriptor());
        }
        device.resources().give(DeviceResources.Kind.EXPORTS, 1);
    }

    @Override
    public Optional<String> mappingRefusal() {
        return device.config().mappedReadsPerSecond() == EmulatedConfig.UNLIMITED
                ? Optional.of("an emulated device is mapped only where placement=fastcopy asks for it")
                : Optional.empty();
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
