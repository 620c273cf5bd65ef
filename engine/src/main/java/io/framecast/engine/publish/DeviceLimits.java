package io.framecast.engine.publish;

import io.framecast.api.PlacementOptions;
import io.framecast.api.error.DeviceException;
import io.framecast.api.error.FramecastException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.GatherSource;
import io.framecast.api.spi.OneSided;
import io.framecast.engine.sink.CopySpeeds;
import java.util.ArrayList;
import java.util.List;

/// Up to which lengths frames in device memory are sent in which way: as the channel says, else measured,
/// once when the publisher opens its device.
///
/// @param readMaxBytes longest frame that the CPU reads; 0: none
/// @param gatherMaxBytes longest frame that the NIC sends from device memory; 0: none
/// @param chunkBytes length of the pieces in which others are copied
/// @param refused why one of the limits is 0, or was not measured
record DeviceLimits(long readMaxBytes, long gatherMaxBytes, long chunkBytes, List<String> refused) {
    // The switch of Chu et al. (2019, §4.2) from gathers to copies, where none can be measured.
    private static final long GATHER_MAX_DEFAULT = 128 << 10;

    static DeviceLimits of(final DeviceBackend device, final SourceParts parts, final PlacementOptions options) {
        try (CopySpeeds speeds = new CopySpeeds(device)) {
            final List<String> refused = new ArrayList<>();
            final boolean measures = options.chunkBytes() == PlacementOptions.AUTO && !device.hostAddressable();
            final long chunkBytes = measures ? speeds.chunkBytes() : Math.max(1, options.chunkBytes());
            return new DeviceLimits(
                    readMaxBytes(device, options, speeds, refused),
                    gatherMaxBytes(device, parts, options, speeds, chunkBytes, refused),
                    chunkBytes,
                    refused);
        }
    }

    private static long readMaxBytes(
            final DeviceBackend device,
            final PlacementOptions options,
            final CopySpeeds speeds,
            final List<String> refused) {
        if (options.fastcopyReadMaxBytes() != PlacementOptions.AUTO) {
            return options.fastcopyReadMaxBytes();
        }
        if (device.hostAddressable()) {
            return 0;
        }
        final String refusal = device.access().mappingRefusal().orElse("");
        if (!refusal.isEmpty()) {
            refused.add("no read: " + refusal);
            return 0;
        }
        try {
            final long most = speeds.readMaxBytes();
            if (most == 0) {
                refused.add("no read: the copy engine is faster at every length");
            }
            return most;
        } catch (final DeviceException e) {
            refused.add("no read: " + e.getMessage());
            return 0;
        }
    }

    private static long gatherMaxBytes(
            final DeviceBackend device,
            final SourceParts parts,
            final PlacementOptions options,
            final CopySpeeds speeds,
            final long chunkBytes,
            final List<String> refused) {
        final String refusal = options.gatherMaxBytes() == 0 ? "gather-max=0" : gatherRefusal(device, parts, speeds);
        if (!refusal.isEmpty()) {
            refused.add("no gather: " + refusal);
            return 0;
        }
        if (options.gatherMaxBytes() != PlacementOptions.AUTO) {
            return options.gatherMaxBytes();
        }
        final OneSided nic = parts.transport().oneSided();
        if (device.hostAddressable()) {
            return CopySpeeds.NO_LIMIT;
        }
        if (nic == null) {
            return GATHER_MAX_DEFAULT;
        }
        try {
            return speeds.gatherMaxBytes(nic, chunkBytes);
        } catch (final FramecastException e) {
            refused.add("gather-max not measured: " + e.getMessage());
            return GATHER_MAX_DEFAULT;
        }
    }

    // A trial: GPU, card and kernel may each support it and still fail together.
    private static String gatherRefusal(final DeviceBackend device, final SourceParts parts, final CopySpeeds speeds) {
        final String refusal = parts.gatherRefusal();
        if (!refusal.isEmpty()) {
            return refusal;
        }
        try (GatherSource trial = parts.transport().gatherFrom(device.access().identify(speeds.region()))) {
            return trial == null ? "the transport sends from host memory only" : "";
        } catch (final FramecastException e) {
            return String.valueOf(e.getMessage());
        }
    }
}
