package io.framecast.engine.session;

import io.framecast.api.provider.PseudoFiles;
import io.framecast.reliability.flow.ClockReadings;
import java.nio.file.Path;
import java.time.Instant;

/// Nanoseconds since the epoch that advance with the monotonic clock. There is one in a process, which reads
/// the calendar once. So the timestamps of frames agree with the clock that the source announces, also when the
/// system's clock is set meanwhile. A step of the system clock does not distort a latency.
///
/// Processes of one host may differ: one that began before the system's clock was set keeps the old time. The
/// clocks that they share are relative to the host's monotonic clock, which is one for all of them.
public final class EpochClock {
    // The narrowest of them serves.
    private static final int READINGS = 8;

    private static final Path NAMESPACE_OFFSETS = Path.of("/proc/self/timens_offsets");
    private static final long NS_PER_S = 1_000_000_000;
    // The host's monotonic clock less the one of this process's time namespace.
    // Before Linux 5.6, and on other systems, there are no time namespaces.
    private static final long HOST_OFFSET_NS = -namespaceNs(PseudoFiles.readOrEmpty(NAMESPACE_OFFSETS));
    private static final EpochClock PROCESS = new EpochClock();

    private final long offsetNs;
    private final long errorNs;

    private EpochClock() {
        final ClockReadings readings = new ClockReadings();
        for (int i = 0; i < READINGS; i++) {
            final long beforeNs = System.nanoTime();
            final Instant now = Instant.now();
            final long afterNs = System.nanoTime();
            readings.add(beforeNs, now.getEpochSecond() * NS_PER_S + now.getNano(), afterNs);
        }
        offsetNs = readings.offsetNs();
        errorNs = readings.errorNs();
    }

    /// The clock of this process.
    public static EpochClock ofProcess() {
        return PROCESS;
    }

    // A line for each clock: its name, seconds and nanoseconds (time_namespaces(7)).
    static long namespaceNs(final String offsets) {
        return offsets.lines()
                .map(line -> line.strip().split("\\s+", -1))
                .filter(words -> words.length == 3 && words[0].equals("monotonic"))
                .mapToLong(words -> Long.parseLong(words[1]) * NS_PER_S + Long.parseLong(words[2]))
                .findFirst()
                .orElse(0);
    }

    /// The monotonic clock that all processes of this host share, also those of other time namespaces.
    public static long hostNs() {
        return System.nanoTime() + HOST_OFFSET_NS;
    }

    /// The difference between this clock and [System#nanoTime].
    public long offsetNs() {
        return offsetNs;
    }

    /// The difference between this clock and [#hostNs].
    public long hostOffsetNs() {
        return offsetNs - HOST_OFFSET_NS;
    }

    /// By how much this clock may differ from the system's as it was read.
    public long errorNs() {
        return errorNs;
    }

    public long epochNs() {
        return System.nanoTime() + offsetNs;
    }
}
