package io.framecast.perf.streaming;

import io.framecast.api.error.ConfigException;
import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.spi.DeviceBackend;
import java.util.Comparator;
import java.util.Optional;
import java.util.ServiceLoader;

/// Devices by the names that users write: `host`, `emulated[:N]`, `cuda:N`.
record DeviceChoice(String kind, int ordinal) {
    static final String EMULATED = "emulated";
    static final String HOST = "host";

    /// @throws ConfigException naming option, expectation and value
    static DeviceChoice parse(final String name) {
        if (!name.matches("host|emulated(:\\d{1,2})?|cuda:\\d{1,2}")) {
            throw new ConfigException("--device: expected host, emulated[:N] or cuda:N, got " + name);
        }
        final int colon = name.indexOf(':');
        return new DeviceChoice(
                colon < 0 ? name : name.substring(0, colon),
                colon < 0 ? 0 : Integer.parseInt(name.substring(colon + 1)));
    }

    boolean isEmulated() {
        return kind.equals(EMULATED);
    }

    boolean isHost() {
        return kind.equals(HOST);
    }

    /// As a channel names it.
    String text() {
        return isHost() ? kind : kind + ":" + ordinal;
    }

    private Optional<DeviceBackendProvider> provider() {
        return ServiceLoader.load(DeviceBackendProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(candidate -> candidate.kind().equals(kind))
                .max(Comparator.comparingInt(DeviceBackendProvider::rank));
    }

    /// Finds out before processes are started for it.
    ///
    /// @throws ConfigException when there is no such device on this machine
    void require() {
        final DeviceBackendProvider found =
                provider().orElseThrow(() -> new ConfigException("device: " + kind + " is not part of this build"));
        found.unavailable().ifPresent(reason -> {
            throw new ConfigException("device: " + text() + " cannot be used here: " + reason
                    + "; device emulated:0 works on every machine");
        });
        if (ordinal >= found.deviceCount()) {
            throw new ConfigException("device: expected " + kind + " below " + found.deviceCount() + ", got " + text());
        }
    }

    /// @param linkBytesPerSecond of an emulated device, each way; 0 for what the host can copy
    DeviceBackend open(final long linkBytesPerSecond) {
        EmulatedLinkProvider.set(linkBytesPerSecond);
        require();
        return provider().orElseThrow().open(ordinal);
    }
}
