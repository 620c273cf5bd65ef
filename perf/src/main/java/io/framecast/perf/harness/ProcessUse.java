package io.framecast.perf.harness;

import io.framecast.api.provider.PseudoFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/// Threads, memory and CPU of this process, the JVM included.
///
/// @param cpuShare of one processor's time
/// @param residentBytes of memory that it has touched
public record ProcessUse(double cpuShare, int threads, long residentBytes) {
    /// Nothing was measured.
    public static final ProcessUse NOTHING = new ProcessUse(0, 0, 0);

    private static final Path STATUS = Path.of("/proc/self/status");
    private static final int KIB = 1024;

    /// Now.
    ///
    /// @param spent of which the processor's share is taken
    public static ProcessUse of(final ProcessCost.Spent spent) {
        int threads = 0;
        long resident = 0;
        try {
            for (final String line : PseudoFiles.read(STATUS).lines().toList()) {
                if (line.startsWith("Threads:")) {
                    threads = (int) number(line);
                } else if (line.startsWith("VmRSS:")) {
                    resident = number(line) * KIB;
                }
            }
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
        return new ProcessUse((double) spent.cpuNs() / Math.max(1, spent.wallNs()), threads, resident);
    }

    private static long number(final String line) {
        return Long.parseLong(line.replaceAll("\\D+", ""));
    }
}
