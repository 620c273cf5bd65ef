package io.framecast.perf.harness;

import java.io.IOException;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// CPU time of this process and bytes sent by its network interface, between two moments. The process's clock
/// counts every thread: the application's, an embedded driver's, the compiler's and the collector's.
public final class ProcessCost {
    /// A figure that is not known.
    public static final long UNKNOWN = -1;

    // Of this process's network namespace. The counters follow the name and a colon; the ninth is bytes sent.
    private static final Path DEVICES = Path.of("/proc/net/dev");
    private static final int SENT_BYTES_FIELD = 8;
    // Null in a JVM that only interprets.
    private static final @Nullable CompilationMXBean COMPILERS = ManagementFactory.getCompilationMXBean();

    private final String device;
    private final Runnable atBegin;
    private long beginCpuNs;
    private long beginNs;
    private long beginBytes;
    private long beginCompileNs;
    private long cpuNs;
    private long compileNs;
    private long wallNs;
    private long interfaceBytes;

    /// @param device network interface; empty for none
    /// @param atBegin what else is to be read when measuring begins
    public ProcessCost(final String device, final Runnable atBegin) {
        this.device = device;
        this.atBegin = atBegin;
    }

    public ProcessCost(final String device) {
        this(device, () -> {});
    }

    public void begin() {
        atBegin.run();
        beginNs = System.nanoTime();
        beginBytes = sentBytes();
        beginCompileNs = totalCompileNs();
        beginCpuNs = ProcessClock.cpuNs();
    }

    public void end() {
        wallNs = System.nanoTime() - beginNs;
        cpuNs = ProcessClock.cpuNs() - beginCpuNs;
        compileNs = totalCompileNs() - beginCompileNs;
        final long endBytes = sentBytes();
        interfaceBytes = endBytes < 0 || beginBytes < 0 ? UNKNOWN : endBytes - beginBytes;
    }

    public long cpuNs() {
        return cpuNs;
    }

    /// How long the JVM's compilers worked; their waits for a core included.
    public long compileNs() {
        return compileNs;
    }

    /// How much of the time the JVM's compilers worked.
    public double compilingShare() {
        return (double) compileNs / Math.max(1, wallNs);
    }

    public long interfaceBytes() {
        return interfaceBytes;
    }

    private static long totalCompileNs() {
        return COMPILERS == null ? 0 : TimeUnit.MILLISECONDS.toNanos(COMPILERS.getTotalCompilationTime());
    }

    private long sentBytes() {
        if (device.isEmpty()) {
            return UNKNOWN;
        }
        try {
            for (final String line : Files.readAllLines(DEVICES)) {
                final int colon = line.indexOf(':');
                if (colon > 0 && line.substring(0, colon).strip().equals(device)) {
                    return Long.parseLong(line.substring(colon + 1).strip().split("\\s+", -1)[SENT_BYTES_FIELD]);
                }
            }
        } catch (final IOException e) {
            // Not Linux: the figure is unknown.
        }
        return UNKNOWN;
    }
}
