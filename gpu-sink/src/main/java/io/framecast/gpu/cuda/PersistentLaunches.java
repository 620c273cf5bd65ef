package io.framecast.gpu.cuda;

import io.framecast.api.provider.ScopedLock;
import io.framecast.gpu.device.ResidentGrid;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/// The persistent kernels of one GPU, whichever backend of this process launched them, and the work that waits
/// for their end. All backends of a GPU share its primary context, so a wait for one kernel is a wait for all.
///
/// Any thread may call any method. While a thread holds [#lock] no kernel begins, so a query and a free under the
/// lock are one step. Taken before any lock of a backend.
final class PersistentLaunches {
    private static final Map<String, PersistentLaunches> BY_GPU = new ConcurrentHashMap<>();

    private final ScopedLock lock = new ScopedLock();
    private final List<Launch> launches = new ArrayList<>();
    private final ArrayDeque<Runnable> remains = new ArrayDeque<>();
    // Persistent kernels are rare: a query must not wait while another thread frees memory.
    private volatile boolean none = true;

    /// One kernel; it counts as running from before it is launched until the event behind it is complete.
    ///
    /// @param recorded whether the event was recorded: a driver calls an event complete that never was
    private record Launch(
            CudaBackend backend, CudaStream stream, CudaEvent ended, ResidentGrid grid, AtomicBoolean recorded) {}

    private PersistentLaunches() {}

    /// The launches of a GPU.
    ///
    /// @param gpu as [CudaBackend#name]
    static PersistentLaunches of(final String gpu) {
        return BY_GPU.computeIfAbsent(gpu, _ -> new PersistentLaunches());
    }

    ScopedLock lock() {
        return lock;
    }

    /// A kernel is about to be launched: every later free sees it.
    ///
    /// @param ended will be recorded behind it
    /// @throws io.framecast.api.error.DeviceException when it does not fit beside the kernels that run: nothing
    ///     begins
    void begin(final CudaBackend backend, final CudaStream stream, final CudaEvent ended, final ResidentGrid grid) {
        try (ScopedLock.Scope _ = lock.hold()) {
            launches.removeIf(PersistentLaunches::isOver);
            // Kernels on one stream run one behind the other.
            final long taken = launches.stream()
                    .filter(launch -> launch.stream != stream)
                    .mapToLong(launch -> grid.keptOffBy(launch.grid))
                    .sum();
            grid.check(backend.name(), taken);
            launches.add(new Launch(backend, stream, ended, grid, new AtomicBoolean()));
            none = false;
        }
    }

    /// It was launched, and the event recorded.
    void launched(final CudaEvent ended) {
        try (ScopedLock.Scope _ = lock.hold()) {
            launches.stream().filter(launch -> launch.ended == ended).forEach(launch -> launch.recorded.set(true));
        }
    }

    /// It was not launched after all.
    void failed(final CudaEvent ended) {
        try (ScopedLock.Scope _ = lock.hold()) {
            launches.removeIf(launch -> launch.ended == ended);
        }
    }

    /// A backend is closed, and has waited for its streams.
    void forget(final CudaBackend backend) {
        try (ScopedLock.Scope _ = lock.hold()) {
            launches.removeIf(launch -> launch.backend == backend);
        }
    }

    /// Whether one runs.
    boolean any() {
        if (none) {
            return false;
        }
        try (ScopedLock.Scope _ = lock.hold()) {
            launches.removeIf(PersistentLaunches::isOver);
            none = launches.isEmpty();
            return !none;
        }
    }

    /// Whether one runs on this stream.
    boolean on(final CudaStream stream) {
        if (none) {
            return false;
        }
        try (ScopedLock.Scope _ = lock.hold()) {
            return any() && launches.stream().anyMatch(launch -> launch.stream == stream);
        }
    }

    private static boolean isOver(final Launch launch) {
        final boolean over = launch.recorded.get() && launch.ended.isOver();
        if (over) {
            launch.ended.discard();
        }
        return over;
    }

    /// Frees the memory that a closed backend left: now, or once no persistent kernel runs.
    void whenNoneRuns(final Runnable free) {
        try (ScopedLock.Scope _ = lock.hold()) {
            remains.add(free);
            flush();
        }
    }

    /// Frees the memory that closed backends left, unless a persistent kernel runs.
    void flush() {
        try (ScopedLock.Scope _ = lock.hold()) {
            while (!remains.isEmpty() && !any()) {
                remains.remove().run();
            }
        }
    }
}
