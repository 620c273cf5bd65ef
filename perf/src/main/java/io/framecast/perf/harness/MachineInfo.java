package io.framecast.perf.harness;

import io.framecast.api.provider.PseudoFiles;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The machine of a run.
///
/// @param facts each in a few words
/// @param json a field for each fact; null where it is not known
/// @param load average over a minute at the start; negative where it is not known
public record MachineInfo(List<String> facts, Map<String, @Nullable Object> json, int cores, double load) {
    private static final double BUSY = 0.5;

    public static MachineInfo read() {
        final boolean batching = LinuxSocket.hasBatching();
        final String cpu = value(Path.of("/proc/cpuinfo"), "model name", System.getProperty("os.arch"));
        final int cores = Runtime.getRuntime().availableProcessors();
        final String kernel = System.getProperty("os.name") + " " + System.getProperty("os.version");
        final String jdk = (System.getProperty("java.vendor.version", "") + " " + Runtime.version()).strip();
        final long memoryBytes = number(value(Path.of("/proc/meminfo"), "MemTotal", "0")) << 10;
        // The most that a socket's receive buffer gets without privilege.
        final long rmemMaxBytes = number(PseudoFiles.readOrEmpty(Path.of("/proc/sys/net/core/rmem_max")));
        final long mtuBytes = number(PseudoFiles.readOrEmpty(Path.of("/sys/class/net/lo/mtu")));
        final double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        final List<String> facts = List.of(
                cpu,
                cores + " cores",
                String.format(Locale.ROOT, "%.1f GiB", memoryBytes / (double) (1L << 30)),
                kernel,
                "JDK " + jdk,
                "rmem_max " + rmemMaxBytes,
                "loopback MTU " + mtuBytes,
                "GSO/GRO " + (batching ? "yes" : "no"),
                String.format(Locale.ROOT, "load %.2f", load));
        final Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("cpu", cpu);
        json.put("cores", cores);
        json.put("kernel", kernel);
        json.put("jdk", jdk);
        json.put("memory_bytes", orNull(memoryBytes));
        json.put("rmem_max_bytes", orNull(rmemMaxBytes));
        json.put("loopback_mtu", orNull(mtuBytes));
        json.put("gso_gro", batching);
        json.put("load_average", load < 0 ? null : load);
        return new MachineInfo(facts, json, cores, load);
    }

    /// Reports this machine in one line, and warns when something else runs that spoils the figures.
    public static MachineInfo announced(final Consumer<String> console) {
        final MachineInfo machine = read();
        console.accept(String.join(", ", machine.facts));
        if (machine.load > BUSY * machine.cores) {
            console.accept(String.format(
                    Locale.ROOT,
                    "warning: the load average is %.2f on %d cores: something else runs, and figures will be off",
                    machine.load,
                    machine.cores));
        }
        return machine;
    }

    private static @Nullable Object orNull(final long value) {
        return value == 0 ? null : value;
    }

    // Lines are `name : value`.
    private static String value(final Path file, final String name, final String absent) {
        return PseudoFiles.readOrEmpty(file)
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
