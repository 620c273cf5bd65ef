package io.framecast.perf.harness;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import com.sun.management.OperatingSystemMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.management.ManagementFactory;

/// CPU time of this process, every thread of it. The JDK counts it in steps of 10 ms, a tenth of what a source
/// takes in a round at a modest rate; Linux knows it to the nanosecond.
public final class ProcessClock {
    private static final int CLOCK_PROCESS_CPUTIME_ID = 2;
    private static final long NS_PER_SECOND = 1_000_000_000L;
    private static final boolean LINUX = System.getProperty("os.name").equals("Linux");
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle CLOCK_GETTIME = LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("clock_gettime"), FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));

    private ProcessClock() {}

    public static long cpuNs() {
        return LINUX
                ? precise()
                : ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private static long precise() {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment time = arena.allocate(2 * Long.BYTES, Long.BYTES);
            final int result = (int) CLOCK_GETTIME.invokeExact(CLOCK_PROCESS_CPUTIME_ID, time);
            if (result != 0) {
                throw new IllegalStateException("clock_gettime: " + result);
            }
            return time.getAtIndex(JAVA_LONG, 0) * NS_PER_SECOND + time.getAtIndex(JAVA_LONG, 1);
        } catch (final RuntimeException | Error e) {
            throw e;
        } catch (final Throwable e) {
            throw new IllegalStateException("clock_gettime", e);
        }
    }
}
