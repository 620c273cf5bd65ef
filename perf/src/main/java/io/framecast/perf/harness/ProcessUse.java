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

    /// The kernel's file of this process.
    public static final Path STATUS = Path.of("/proc/self/status");
    private static final int KIB = 1024;

    /// Now.
    ///
    /// @param spent of which the processor's share is taken
    public static ProcessUse of(final ProcessCost.Spent spent) {
        try {
            return new ProcessUse(
                    (double) spent.cpuNs() / Math.max(1, spent.wallNs()),
                    (int) number(STATUS, "Threads:"),
                    bytes(STATUS, "VmRSS:"));
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Memory of this process as a file of the kernel has it, in a line that begins with a name.
    public static long bytes(final Path file, final String name) throws IOException {
        return number(file, name) * KIB;
    }

    private static long number(final Path file, final String name) throws IOException {
        return PseudoFiles.read(file)
                .lines()
                .filter(line -> line.startsWith(name))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D+", "")))
                .sum();
    }
}
