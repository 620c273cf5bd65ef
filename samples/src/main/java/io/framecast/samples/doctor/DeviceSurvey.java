package io.framecast.samples.doctor;

import io.framecast.api.error.FramecastException;
import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.provider.ProviderLookup;
import io.framecast.api.spi.DeviceAccess;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceSharing;
import io.framecast.rdma.RdmaSurvey.Finding;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// The survey of this machine for frames in device memory: kinds of devices, and access to their memory.
final class DeviceSurvey {
    private static final String DIRECT_FIX =
            "placements direct and loopback: the open NVIDIA kernel modules with CUDA 11.7 or later"
                    + " export dma-buf; else modprobe nvidia-peermem";
    private static final String FASTCOPY_FIX = "placement fastcopy: install gdrcopy 2 and load gdrdrv";

    private DeviceSurvey() {}

    static List<Finding> look() {
        final List<Finding> findings = new ArrayList<>();
        final Set<String> kinds = new HashSet<>();
        for (final DeviceBackendProvider provider : ProviderLookup.devices()) {
            // Several may provide one kind, the engine takes one of them.
            if (!kinds.add(provider.kind())) {
                continue;
            }
            final String missing = provider.unavailable().orElse("");
            if (!missing.isEmpty()) {
                findings.add(new Finding(false, provider.kind() + ": " + missing, "install the NVIDIA driver"));
                continue;
            }
            // One emulated device is as good as all.
            final int count = provider.kind().equals("cuda") ? provider.deviceCount() : 1;
            for (int ordinal = 0; ordinal < count; ordinal++) {
                look(provider, ordinal, findings);
            }
        }
        return findings;
    }

    private static void look(final DeviceBackendProvider provider, final int ordinal, final List<Finding> findings) {
        try (DeviceBackend device = provider.open(ordinal)) {
            findings.add(new Finding(true, device.name() + ": " + device.description(), ""));
            if (provider.kind().equals("cuda")) {
                memoryAccess(device, findings);
            }
        } catch (final FramecastException e) {
            findings.add(new Finding(false, provider.kind() + ":" + ordinal + ": " + e.getMessage(), ""));
        }
    }

    private static void memoryAccess(final DeviceBackend device, final List<Finding> findings) {
        final DeviceAccess access = device.access();
        findings.add(access.exportRefusal()
                .map(why -> new Finding(false, device.name() + ": NICs cannot write here: " + why, DIRECT_FIX))
                .orElseGet(() -> new Finding(true, device.name() + ": NICs may write here", "")));
        findings.add(access.mappingRefusal()
                .map(why -> new Finding(false, device.name() + ": the CPU cannot store here: " + why, FASTCOPY_FIX))
                .orElseGet(() -> new Finding(true, device.name() + ": the CPU may store here", "")));
        final String unshared = device.capability(DeviceSharing.class)
                .map(sharing -> sharing.refusal().orElse(""))
                .orElse("it shares no memory between processes");
        findings.add(
                unshared.isEmpty()
                        ? new Finding(true, device.name() + ": processes may share its memory (host-group=)", "")
                        : new Finding(false, device.name() + ": processes cannot share its memory: " + unshared, ""));
    }
}
