package io.framecast.perf.harness;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The machine of a run.
///
/// @param memoryBytes 0 where it is not known, as with the numbers below
/// @param rmemMaxBytes most that a socket's receive buffer gets without privilege
/// @param batching whether the kernel takes and gives many datagrams at once (UDP_SEGMENT, UDP_GRO)
/// @param load average over a minute at the start; negative where it is not known
public record MachineInfo(
        String cpu,
        int cores,
        String kernel,
        String jdk,
        long memoryBytes,
        long rmemMaxBytes,
        long loopbackMtuBytes,
        boolean batching,
        double load) {
    private static final double BUSY = 0.5;

    /// @param batching whether the kernel takes and gives many datagrams at once
    public static MachineInfo read(final boolean batching) {
        return new MachineInfo(
                value(Path.of("/proc/cpuinfo"), "model name", System.getProperty("os.arch")),
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("os.name") + " " + System.getProperty("os.version"),
                System.getProperty("java.vendor.version", "") + " " + Runtime.version(),
                number(value(Path.of("/proc/meminfo"), "MemTotal", "0")) << 10,
                number(text(Path.of("/proc/sys/net/core/rmem_max"))),
                number(text(Path.of("/sys/class/net/lo/mtu"))),
                batching,
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }

    /// Whether something else runs that spoils the figures.
    public boolean isBusy() {
        return load > BUSY * cores;
    }

    /// One line.
    public String text() {
        return String.join(", ", facts());
    }

    /// The facts, each in a few words.
    public List<String> facts() {
        return List.of(
                cpu,
                cores + " cores",
                String.format(Locale.ROOT, "%.1f GiB", memoryBytes / (double) (1L << 30)),
                kernel,
                "JDK " + jdk.strip(),
                "rmem_max " + rmemMaxBytes,
                "loopback MTU " + loopbackMtuBytes,
                "GSO/GRO " + (batching ? "yes" : "no"),
                String.format(Locale.ROOT, "load %.2f", load));
    }

    public Map<String, @Nullable Object> json() {
        final Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("cpu", cpu);
        json.put("cores", cores);
        json.put("kernel", kernel);
        json.put("jdk", jdk.strip());
        json.put("memory_bytes", orNull(memoryBytes));
        json.put("rmem_max_bytes", orNull(rmemMaxBytes));
        json.put("loopback_mtu", orNull(loopbackMtuBytes));
        json.put("gso_gro", batching);
        json.put("load_average", load < 0 ? null : load);
        return json;
    }

    private static @Nullable Object orNull(final long value) {
        return value == 0 ? null : value;
    }

    private static String text(final Path file) {
        // Read as a stream: some files of /proc say that they are empty, and give their content to one read
        // alone.
        try (BufferedReader reader = Files.newBufferedReader(file)) {
            return reader.lines().collect(Collectors.joining("\n"));
        } catch (final IOException e) {
            return "";
        }
    }

    // Lines are `name : value`.
    private static String value(final Path file, final String name, final String absent) {
        return text(file)
                .lines()
                .filter(line -> line.startsWith(name) && line.indexOf(':') > 0)
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst()
                .orElse(absent);
    }

    private static long number(final String text) {
        final String digits = text.replaceAll("\\D.*", "");
        return digits.isEmpty() ? 0 : Long.parseLong(digits);
    }
}
