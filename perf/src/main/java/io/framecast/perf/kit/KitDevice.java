package io.framecast.perf.kit;

import io.framecast.api.error.DeviceException;
import io.framecast.api.provider.DeviceBackendProvider;
import io.framecast.api.provider.PseudoFiles;
import io.framecast.api.spi.DeviceBackend;
import io.framecast.perf.harness.DeviceChoice;
import io.framecast.samples.json.Json;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The device of a run, as it describes itself; and the program that asks it, since a driver that is ill may
/// never answer.
///
/// @param driver the kernel's part of the driver; empty where there is none
public record KitDevice(String name, String description, String driver) {
    private static final Path DRIVER = Path.of("/proc/driver/nvidia/version");
    private static final String COMPUTE_MODE = ", compute mode ";

    /// Why a device cannot be used, in one line.
    static final class UnusableException extends Exception {
        private static final long serialVersionUID = 1;

        private final boolean absent;

        UnusableException(final boolean absent, final String line) {
            super(line);
            this.absent = absent;
        }

        /// Whether there is no driver or no GPU. A device that is there and does not work is a failure.
        boolean isAbsent() {
            return absent;
        }
    }

    /// Opens the device and writes what it is as one JSON object.
    ///
    /// @param arguments the device
    public static void main(final String[] arguments) {
        final Map<String, @Nullable Object> json = new LinkedHashMap<>();
        try {
            json.putAll(find(arguments[0]).json());
        } catch (final UnusableException e) {
            json.put("error", e.getMessage());
            json.put("absent", e.isAbsent());
        }
        System.out.println(Json.write(json));
        System.exit(KitMain.PASSED);
    }

    static KitDevice find(final String text) throws UnusableException {
        final DeviceChoice choice = DeviceChoice.parse(text);
        final DeviceBackendProvider provider = choice.provider()
                .orElseThrow(
                        () -> new UnusableException(false, text + ": " + choice.kind() + " is not part of this kit"));
        final @Nullable String reason = provider.unavailable().orElse(null);
        if (reason != null) {
            final boolean absent = reason.startsWith("no CUDA driver") || reason.startsWith("no CUDA device");
            throw new UnusableException(
                    absent,
                    text + " cannot be used here: " + reason
                            + (absent ? "; run this kit on a machine with an NVIDIA GPU and its driver" : ""));
        }
        try (DeviceBackend device = provider.open(choice.ordinal())) {
            return new KitDevice(device.name(), device.description(), readDriver());
        } catch (final DeviceException e) {
            throw new UnusableException(false, text + " does not open: " + e.getMessage());
        }
    }

    /// Reads the output of [#main].
    ///
    /// @param said nothing if it did not end as it should
    static KitDevice of(final String text, final KitStep said) throws UnusableException {
        final Map<?, ?> json = said.result();
        if (json == null) {
            throw new UnusableException(false, text + " cannot be used here: " + said.detail());
        }
        if (json.get("error") instanceof final String error) {
            throw new UnusableException(Boolean.TRUE.equals(json.get("absent")), error);
        }
        return new KitDevice(
                String.valueOf(json.get("name")),
                String.valueOf(json.get("description")),
                json.get("driver") instanceof final String driver ? driver : "");
    }

    private static String readDriver() {
        return PseudoFiles.readOrEmpty(DRIVER).lines().findFirst().orElse("").strip();
    }

    boolean isGpu() {
        return name.startsWith("cuda");
    }

    /// One line that says what ran.
    String line() {
        return "hardware: " + name + ", " + description + (driver.isEmpty() ? "" : "; " + driver);
    }

    // The description names what is out of the ordinary.
    private @Nullable String computeMode() {
        final int at = description.indexOf(COMPUTE_MODE);
        return !isGpu() ? null : at < 0 ? "default" : description.substring(at + COMPUTE_MODE.length());
    }

    Map<String, @Nullable Object> json() {
        final Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("name", name);
        json.put("description", description);
        json.put("driver", driver.isEmpty() ? null : driver);
        json.put("compute_mode", computeMode());
        return json;
    }
}
