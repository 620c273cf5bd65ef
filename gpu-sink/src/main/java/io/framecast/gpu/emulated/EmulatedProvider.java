package io.framecast.gpu.emulated;

import io.framecast.api.error.DeviceException;
import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.spi.DeviceBackend;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// `device=emulated:N`. Always there; `device=auto` leaves it out and `auto,emulated` takes it where no GPU is.
///
/// `FRAMECAST_EMULATED_PCI=0000:3b:00.0,0000:5e:00.0` in the environment gives two of them the places of these PCI
/// functions: for tests of choices that depend on where GPUs are.
public final class EmulatedProvider implements DeviceBackendProvider {
    private static final int RANK = 200;
    private static final String PEER_MEMORY = "peermem";
    static final int DEVICES = 16;
    private static final List<String> PLACES = places(System.getenv("FRAMECAST_EMULATED_PCI"));

    private static volatile EmulatedConfig config = EmulatedConfig.DEFAULT;

    private static List<String> places(final @Nullable String text) {
        return text == null || text.isBlank()
                ? List.of()
                : Arrays.stream(text.split(",", DEVICES)).map(String::strip).toList();
    }

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

    /// Returns false: only a user that names an emulated GPU gets it.
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
        return PLACES.isEmpty() ? DEVICES : PLACES.size();
    }

    @Override
    public Optional<String> pciAddress(final int ordinal) {
        return ordinal < PLACES.size() ? Optional.of(PLACES.get(ordinal)) : Optional.empty();
    }

    /// `peermem`: any NIC of this host may write into the device, which it knows by address.
    @Override
    public Set<String> modes() {
        return Set.of(PEER_MEMORY);
    }

    @Override
    public DeviceBackend open(final int ordinal, final String mode) {
        if (!mode.equals(PEER_MEMORY)) {
            throw new DeviceException("emulated:" + ordinal + ": expected mode " + PEER_MEMORY + ", got " + mode);
        }
        return open(ordinal, config.withPeerMemory());
    }

    @Override
    public DeviceBackend open(final int ordinal) {
        return open(ordinal, config);
    }

    private DeviceBackend open(final int ordinal, final EmulatedConfig config) {
        if (ordinal < 0 || ordinal >= deviceCount()) {
            throw new DeviceException(
                    "emulated:" + ordinal + ": expected emulated:0 to emulated:" + (deviceCount() - 1));
        }
        return new EmulatedDevice(ordinal, config);
    }
}
