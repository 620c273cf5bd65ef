package io.framecast.perf.harness;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.sun.management.OperatingSystemMXBean;
import io.framecast.engine.libc.Libc;
import io.framecast.engine.libc.Linux;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;

/// CPU time of all threads of this process. The JDK gives it in steps of 10 ms, a tenth of what a source takes
/// in a round at a modest rate; Linux gives it in nanoseconds.
public final class ProcessClock {
    private static final long NS_PER_SECOND = 1_000_000_000L;

    private ProcessClock() {}

    public static long cpuNs() {
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
}
