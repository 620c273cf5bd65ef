package io.framecast.engine.sink;

import io.framecast.api.PlacementOptions;
import io.framecast.api.PlacementOptions.Kind;
import io.framecast.api.PlacementReport;
import io.framecast.api.PlacementReport.Refusal;
import io.framecast.api.error.ConfigException;
import io.framecast.api.error.DeviceException;
import io.framecast.api.error.TransportException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.OneSided;
import io.framecast.api.spi.RegisteredMemory;
import io.framecast.api.spi.Transport;
import io.framecast.api.spi.TransportCapabilities;
import io.framecast.api.spi.TransportCapabilities.Placement;
import io.framecast.engine.memory.RollbackOnFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/// Chooses the placement of payloads in a device's memory: the one that the channel names, or the first that works.
/// Used by one thread, once for a subscriber, because a measurement takes milliseconds.
public final class PlacementProbe {
    // One page in the size that a GPU exports.
    private static final long TRIAL_BYTES = 2L << 20;

    private final PlacementOptions wanted;
    private final DeviceBackend device;
    private final Transport transport;
    private final TransportCapabilities capabilities;
    private final List<Refusal> refused = new ArrayList<>();

    /// @param device a device whose memory the host cannot address
    public PlacementProbe(final PlacementOptions wanted, final DeviceBackend device, final Transport transport) {
        this.wanted = wanted;
        this.device = device;
        this.transport = transport;
        capabilities = transport.capabilities();
    }

    /// @throws ConfigException when the placement that the channel names does not work
    public PlacementReport probe() {
        return switch (wanted.kind()) {
            case AUTO -> best();
            case DIRECT -> named(Kind.DIRECT, directRefusal());
            case FASTCOPY -> fastcopy();
            case LOOPBACK -> named(Kind.LOOPBACK, loopbackRefusal());
            case SHARED, PEER ->
                named(wanted.kind(), Optional.of("only members of a host group have it (host-group=)"));
            case STAGED -> report(Kind.STAGED, 0);
        };
    }

    /// The next placement, after the chosen one failed on the real ring.
    ///
    /// @throws ConfigException when the channel names the failed placement
    public PlacementReport without(final Kind kind, final DeviceException reason) {
        if (wanted.kind() == kind) {
            throw unusable(kind, reason.getMessage(), reason);
        }
        refused.add(new Refusal(kind, reason.getMessage()));
        // A NIC that cannot access the whole ring cannot copy into it either.
        return kind == Kind.FASTCOPY ? behindFastcopy() : report(Kind.STAGED, 0);
    }

    // No measurement on hardware shows that copies by the NIC are faster than those of the copy engine.
    private PlacementReport behindFastcopy() {
        refused.add(new Refusal(Kind.LOOPBACK, "used only where placement=loopback asks for it"));
        return report(Kind.STAGED, 0);
    }

    private PlacementReport best() {
        if (isRefused(Kind.DIRECT, directRefusal())) {
            final long most = offeredFastcopyMaxBytes();
            if (most > 0) {
                return report(Kind.FASTCOPY, most);
            }
            return behindFastcopy();
        }
        return report(Kind.DIRECT, 0);
    }

    // 0 where `fastcopy` is refused. The presence of library and module does not prove that this GPU can be mapped,
    // so the probe measures.
    private long offeredFastcopyMaxBytes() {
        if (isRefused(Kind.FASTCOPY, device.access().mappingRefusal())) {
            return 0;
        }
        try {
            final long most = fastcopyMaxBytes();
            if (most == 0) {
                refused.add(new Refusal(Kind.FASTCOPY, "the copy engine is faster at every length"));
            }
            return most;
        } catch (final DeviceException e) {
            refused.add(new Refusal(Kind.FASTCOPY, e.getMessage()));
            return 0;
        }
    }

    private boolean isRefused(final Kind kind, final Optional<String> reason) {
        reason.ifPresent(why -> refused.add(new Refusal(kind, why)));
        return reason.isPresent();
    }

    private Optional<String> directRefusal() {
        if (!capabilities.deviceMemory()) {
            return Optional.of("transport " + capabilities.name() + " receives into host memory only");
        }
        if (capabilities.placement() != Placement.BY_ARRIVAL) {
            return Optional.of("transport " + capabilities.name() + " places payloads by the CPU");
        }
        return reachRefusal(transport::canReceiveInto);
    }

    // Tries one page, because GPU, card and kernel may each support an export and still fail together.
    private Optional<String> reachRefusal(final Function<DeviceRegion, Optional<String>> refusal) {
        final Optional<String> noExport = device.access().exportRefusal();
        if (noExport.isPresent()) {
            return noExport;
        }
        try (RollbackOnFailure trial = new RollbackOnFailure()) {
            final DeviceRegion memory = device.allocate(TRIAL_BYTES);
            trial.add(() -> device.free(memory));
            final DeviceRegion exported = device.access().export(memory);
            trial.add(() -> device.access().unexport(exported));
            return refusal.apply(exported);
        } catch (final DeviceException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    private Optional<String> loopbackRefusal() {
        final OneSided nic = transport.oneSided();
        if (nic == null) {
            return Optional.of(
                    capabilities.oneSidedRead()
                            ? "one-sided=off"
                            : "transport " + capabilities.name() + " has no one-sided reads");
        }
        return reachRefusal(exported -> registrationRefusal(nic, exported));
    }

    private static Optional<String> registrationRefusal(final OneSided nic, final DeviceRegion exported) {
        try (RegisteredMemory _ = nic.register(exported, OneSided.Access.LOCAL)) {
            return Optional.empty();
        } catch (final TransportException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    // A channel that names `fastcopy` gets it wherever the memory can be mapped, at any measured speed.
    private PlacementReport fastcopy() {
        try {
            final long most = fastcopyMaxBytes();
            return report(
                    Kind.FASTCOPY,
                    most > 0 ? most : wanted.fastcopyMaxBytes() == 0 ? 0 : capabilities.datagramBytesMax());
        } catch (final DeviceException e) {
            throw unusable(Kind.FASTCOPY, e.getMessage(), e);
        }
    }

    private long fastcopyMaxBytes() {
        if (wanted.fastcopyMaxBytes() != PlacementOptions.AUTO) {
            return wanted.fastcopyMaxBytes();
        }
        try (CopySpeeds speeds = new CopySpeeds(device)) {
            return speeds.storeMaxBytes();
        }
    }

    private PlacementReport named(final Kind kind, final Optional<String> refusal) {
        if (refusal.isPresent()) {
            throw unusable(kind, refusal.get(), null);
        }
        return report(kind, 0);
    }

    private static ConfigException unusable(
            final Kind kind, final String reason, final @org.jspecify.annotations.Nullable Throwable cause) {
        final String line = "placement: " + kind.word() + " cannot be used here: " + reason
                + "; placement=auto takes a placement that works";
        return cause == null ? new ConfigException(line) : new ConfigException(line, cause);
    }

    private PlacementReport report(final Kind kind, final long fastcopyMaxBytes) {
        return new PlacementReport(kind, fastcopyMaxBytes, refused);
    }
}
