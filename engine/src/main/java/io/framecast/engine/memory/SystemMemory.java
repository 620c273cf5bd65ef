package io.framecast.engine.memory;

import io.framecast.api.provider.PseudoFiles;
import java.nio.file.Path;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// How much memory this process may still take: the memory that the system has available, or the rest that its
/// control groups allow if that is less. The engine asks before it takes large memory, for Linux hands out more
/// memory than it has and then kills a process.
///
/// It asks when sessions open, never while they run.
public final class SystemMemory implements LongSupplier {
    /// Bytes left to other processes: this, or a sixteenth of the available memory if that is more.
    static final long MARGIN_BYTES_MIN = 64L << 20;

    private static final SystemMemory THIS = new SystemMemory(Path.of("/proc"), Path.of("/sys/fs/cgroup"));
    private static final Pattern AVAILABLE = Pattern.compile("(?m)^MemAvailable:\\s+(\\d{1,15}) kB$");
    private static final Pattern INACTIVE_FILE = Pattern.compile("(?m)^(?:total_)?inactive_file (\\d{1,18})$");
    // hierarchy:controllers:path; version 2 names no controllers.
    private static final Pattern GROUP = Pattern.compile("(?m)^\\d+:([^:]*):(/.*)$");
    private static final Pattern NUMBER = Pattern.compile("(\\d{1,18})\\s*");

    private final Path proc;
    private final Path groups;

    SystemMemory(final Path proc, final Path groups) {
        this.proc = proc;
        this.groups = groups;
    }

    /// Bytes that may be taken at most; MAX_VALUE where the system does not report any.
    public static long availableBytes() {
        return THIS.getAsLong();
    }

    /// Checks that there is room for `bytes` more.
    ///
    /// @throws OutOfMemoryError when there is not, as if it had been asked for
    public static void require(final long bytes) {
        require(bytes, THIS);
    }

    static void require(final long bytes, final LongSupplier available) {
        final long there = available.getAsLong();
        final long room = there - Math.max(MARGIN_BYTES_MIN, there / 16);
        // A small request never exhausts the memory by itself.
        if (bytes > MARGIN_BYTES_MIN / 4 && bytes > room) {
            throw new OutOfMemoryError(bytes + " bytes wanted, " + Math.max(0, room) + " available");
        }
    }

    @Override
    public long getAsLong() {
        // Another system or another version of control groups has no such file, or this user may not read it.
        final Matcher system = AVAILABLE.matcher(PseudoFiles.readOrEmpty(proc.resolve("meminfo")));
        long least = system.find() ? Long.parseLong(system.group(1)) << 10 : Long.MAX_VALUE;
        final Matcher group =
                GROUP.matcher(PseudoFiles.readOrEmpty(proc.resolve("self").resolve("cgroup")));
        while (group.find()) {
            final String path = group.group(2).substring(1);
            if (group.group(1).isEmpty()) {
                least = Math.min(least, room(groups, path, "memory.max", "memory.current"));
            } else if (("," + group.group(1) + ",").contains(",memory,")) {
                final Path memory = groups.resolve("memory");
                least = Math.min(least, room(memory, path, "memory.limit_in_bytes", "memory.usage_in_bytes"));
            }
        }
        return least;
    }

    // Limits of the groups above hold as well. In a container the path may be the host's, and only the root
    // is there.
    private static long room(final Path root, final String path, final String limit, final String usage) {
        long least = Long.MAX_VALUE;
        for (Path group = root.resolve(path).normalize();
                group != null && group.startsWith(root);
                group = group.getParent()) {
            final long max = number(group.resolve(limit));
            final long used = number(group.resolve(usage));
            if (max != Long.MAX_VALUE && used != Long.MAX_VALUE) {
                // The system drops cached files when a process wants memory.
                final Matcher cached = INACTIVE_FILE.matcher(PseudoFiles.readOrEmpty(group.resolve("memory.stat")));
                final long taken = used - (cached.find() ? Math.min(used, Long.parseLong(cached.group(1))) : 0);
                least = Math.min(least, Math.max(0, max - taken));
            }
        }
        return least;
    }

    private static long number(final Path file) {
        final Matcher number = NUMBER.matcher(PseudoFiles.readOrEmpty(file));
        return number.matches() ? Long.parseLong(number.group(1)) : Long.MAX_VALUE;
    }
}
