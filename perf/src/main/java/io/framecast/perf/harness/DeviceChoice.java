package io.framecast.perf.harness;

import io.framecast.api.error.ConfigException;
import io.framecast.api.error.DeviceException;
import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.gpu.emulated.EmulatedConfig;
import io.framecast.gpu.emulated.EmulatedProvider;
import io.framecast.samples.options.Options;
import java.util.Comparator;
import java.util.Optional;
import java.util.ServiceLoader;

/// Devices by the names that users write: `auto`, `host`, `emulated[:N][?peermem]`, `cuda:N`.
///
/// @param mode behind a `?`; empty for none
public record DeviceChoice(String kind, int ordinal, String mode) {
    public DeviceChoice(final String kind, final int ordinal) {
        this(kind, ordinal, "");
    }

    public static final String AUTO = "auto";
    public static final String EMULATED = "emulated";
    public static final String HOST = "host";
    private static final String CUDA = "cuda";

    /// Reads a name whose form the command line has checked.
    public static DeviceChoice parse(final String name) {
        final int question = name.indexOf('?');
        final String plain = question < 0 ? name : name.substring(0, question);
        final int colon = plain.indexOf(':');
        return new DeviceChoice(
                colon < 0 ? plain : plain.substring(0, colon),
                colon < 0 ? 0 : Integer.parseInt(plain.substring(colon + 1)),
                question < 0 ? "" : name.substring(question + 1));
    }

    public boolean isEmulated() {
        return kind.equals(EMULATED);
    }

    public boolean isHost() {
        return kind.equals(HOST);
    }

    /// As a channel names it.
    public String text() {
        return isHost() ? kind : kind + ":" + ordinal + (mode.isEmpty() ? "" : "?" + mode);
    }

    /// A device for `auto`: a GPU where there is one, else an emulated device.
    public DeviceChoice resolved() {
        final boolean cuda = kind.equals(AUTO)
                && new DeviceChoice(CUDA, 0)
                        .provider()
                        .filter(provider -> provider.unavailable().isEmpty())
                        .isPresent();
        return kind.equals(AUTO) ? new DeviceChoice(cuda ? CUDA : EMULATED, 0) : this;
    }

    public Optional<DeviceBackendProvider> provider() {
        return ServiceLoader.load(DeviceBackendProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(candidate -> candidate.kind().equals(kind))
                .max(Comparator.comparingInt(DeviceBackendProvider::rank));
    }

    /// Finds out before processes are started for the device.
    ///
    /// @throws ConfigException when there is no such device on this machine
    public DeviceBackendProvider require() {
        final DeviceBackendProvider found =
                provider().orElseThrow(() -> new ConfigException("device: " + kind + " is not part of this build"));
        found.unavailable().ifPresent(reason -> {
            throw new ConfigException("device: " + text() + " cannot be used here: " + reason
                    + "; device emulated:0 works on every machine");
        });
        Options.require(
                ordinal < found.deviceCount(),
                "device: expected " + kind + " below " + found.deviceCount() + ", got " + text());
        return found;
    }

    /// @throws ConfigException when the device does not open
    public DeviceBackend open() {
        try {
            return mode.isEmpty() ? require().open(ordinal) : require().open(ordinal, mode);
        } catch (final DeviceException e) {
            throw new ConfigException("device: " + e.getMessage(), e);
        }
    }

    /// @param linkBytesPerSecond of an emulated device, each way; 0 for as fast as the host copies
    public DeviceBackend open(final long linkBytesPerSecond) {
        limitLink(linkBytesPerSecond);
        return open();
    }

    /// From now on the emulated devices of this process have such a link, each way; 0 for as fast as the host
    /// copies.
    public static void limitLink(final long bytesPerSecond) {
        final long rate = bytesPerSecond > 0 ? bytesPerSecond : EmulatedConfig.UNLIMITED;
        EmulatedProvider.configure(EmulatedConfig.DEFAULT.withLink(rate, rate));
    }
}
