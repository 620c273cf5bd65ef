package io.framecast.perf.harness;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.sun.management.OperatingSystemMXBean;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// CPU time of this process and bytes sent by its network interface, between two moments. The process's clock
/// counts every thread: the application's, an embedded driver's, the compiler's and the collector's.
public final class ProcessCost {
    /// A figure that is not known.
    public static final long UNKNOWN = -1;

    private static final long NS_PER_SECOND = 1_000_000_000L;

    // Null in a JVM that only interprets.
    private static final @Nullable CompilationMXBean COMPILERS = ManagementFactory.getCompilationMXBean();

    private final String device;
    private final Runnable atBegin;
    private long beginCpuNs;
    private long beginNs;
    private long beginBytes;
    private long beginCompileNs;

    /// The cost so far.
    ///
    /// @param cpuNs of every thread
    /// @param compileNs how long the JVM's compilers worked; their waits for a core included
    /// @param interfaceBytes that the interface sent, or [#UNKNOWN]
    public record Spent(long wallNs, long cpuNs, long compileNs, long interfaceBytes) {
        /// Nothing was measured.
        public static final Spent NOTHING = new Spent(0, 0, 0, 0);

        /// How much of the time the JVM's compilers worked.
        public double compilingShare() {
            return (double) compileNs / Math.max(1, wallNs);
        }
    }

    /// @param device network interface; empty for none
    /// @param atBegin what else is to be read when measuring begins
    public ProcessCost(final String device, final Runnable atBegin) {
        this.device = device;
        this.atBegin = atBegin;
    }

    public ProcessCost(final String device) {
        this(device, () -> {});
    }

    /// CPU time of all threads of this process. The JDK gives it in steps of 10 ms, a tenth of what a source takes
    /// in a round at a modest rate; Linux gives it in nanoseconds.
    public static long totalCpuNs() {
        return Linux.isPresent()
                ? precise()
                : ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private static long precise() {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment time = arena.allocate(Linux.TIMESPEC_BYTES, Long.BYTES);
            final int result = Libc.clockGettime(Linux.CLOCK_PROCESS_CPUTIME_ID, time);
            if (result != 0) {
                throw new IllegalStateException("clock_gettime: " + result);
            }
            return time.get(JAVA_LONG, 0) * NS_PER_SECOND + time.get(JAVA_LONG, Linux.TIMESPEC_NANOS);
        }
    }

    public void begin() {
        atBegin.run();
        beginNs = System.nanoTime();
        beginBytes = sentBytes();
        beginCompileNs = totalCompileNs();
        beginCpuNs = totalCpuNs();
    }

    /// The cost since [#begin].
    public Spent end() {
        final long wallNs = System.nanoTime() - beginNs;
        final long cpuNs = totalCpuNs() - beginCpuNs;
        final long compileNs = totalCompileNs() - beginCompileNs;
        final long endBytes = sentBytes();
        return new Spent(wallNs, cpuNs, compileNs, endBytes < 0 || beginBytes < 0 ? UNKNOWN : endBytes - beginBytes);
    }

    /// How long the compilers of this process's JVM have worked; their waits for a core included.
    public static long totalCompileNs() {
        return COMPILERS == null ? 0 : TimeUnit.MILLISECONDS.toNanos(COMPILERS.getTotalCompilationTime());
    }

    private long sentBytes() {
        try {
            return device.isEmpty() ? UNKNOWN : LinkMeter.Bytes.of(device).sent();
        } catch (final IOException e) {
            // Not Linux.
            return UNKNOWN;
        }
    }
}
