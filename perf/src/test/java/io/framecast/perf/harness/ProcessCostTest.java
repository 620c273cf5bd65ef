package io.framecast.perf.harness;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class ProcessCostTest {
    private static final long STEP_NS = 10_000_000;

    @Test
    void shouldAgreeWithTheJdkButForItsSteps() {
        final OperatingSystemMXBean jdk = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        final SplittableRandom random = new SplittableRandom(1);
        long sum = 0;
        while (jdk.getProcessCpuTime() < 3 * STEP_NS) {
            sum += random.nextLong();
        }
        final long before = jdk.getProcessCpuTime();
        final long found = ProcessCost.totalCpuNs();
        final long after = jdk.getProcessCpuTime();
        assertTrue(
                found >= before - STEP_NS && found <= after + 2 * STEP_NS, before + ", " + found + ", " + after + sum);
    }
}
