package io.framecast.perf.kit;

import io.framecast.api.error.ConfigException;
import io.framecast.api.error.DeviceException;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.api.spi.DeviceBackendProvider;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/// The device of a run, as it describes itself.
///
/// @param driver the kernel's part of the driver; empty where there is none
record KitDevice(String name, String description, String driver) {
    private static final Path DRIVER = Path.of("/proc/driver/nvidia/version");

    /// @throws ConfigException saying in one line why it cannot be used
    static KitDevice find(final String text) {
        if (!text.matches("(cuda|emulated):\\d{1,2}")) {
            throw new ConfigException("--device: expected cuda:N or emulated:N, got " + text);
        }
        final int colon = text.indexOf(':');
        final String kind = text.substring(0, colon);
        final DeviceBackendProvider provider = ServiceLoader.load(DeviceBackendProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(candidate -> candidate.kind().equals(kind))
                .max(Comparator.comparingInt(DeviceBackendProvider::rank))
                .orElseThrow(() -> new ConfigException(text + ": " + kind + " is not part of this kit"));
        provider.unavailable().ifPresent(reason -> {
            throw new ConfigException(text + " cannot be used here: " + reason
                    + "; run this kit on a machine with an NVIDIA GPU and its driver");
        });
        try (DeviceBackend device = provider.open(Integer.parseInt(text.substring(colon + 1)))) {
            return new KitDevice(device.name(), device.description(), readDriver());
        } catch (final DeviceException e) {
            throw new ConfigException(String.valueOf(e.getMessage()), e);
        }
    }

    private static String readDriver() {
        try (BufferedReader reader = Files.newBufferedReader(DRIVER)) {
            final String line = reader.readLine();
            return line == null ? "" : line.strip();
        } catch (final IOException e) {
            return "";
        }
    }

    boolean isGpu() {
        return name.startsWith("cuda");
    }

    /// One line that says what ran.
    String line() {
        return "hardware: " + name + ", " + description + (driver.isEmpty() ? "" : "; " + driver);
    }

    Map<String, @Nullable Object> json() {
        final Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("name", name);
        json.put("description", description);
        json.put("driver", driver.isEmpty() ? null : driver);
        return json;
    }
}
