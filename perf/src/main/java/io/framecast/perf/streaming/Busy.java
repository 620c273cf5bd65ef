package io.framecast.perf.streaming;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// How much of the time this process's compilers worked.
final class Busy {
    private static final @Nullable CompilationMXBean COMPILERS = ManagementFactory.getCompilationMXBean();

    private long beginNs;
    private long beginCompileMs;
    private double share;

    void begin() {
        beginNs = System.nanoTime();
        beginCompileMs = compileMs();
    }

    void end() {
        share = (compileMs() - beginCompileMs) * 1e6 / Math.max(1, System.nanoTime() - beginNs);
    }

    void put(final Map<String, Object> report) {
        report.put("compiling_share", share);
    }

    private static long compileMs() {
        return COMPILERS == null ? 0 : COMPILERS.getTotalCompilationTime();
    }
}
