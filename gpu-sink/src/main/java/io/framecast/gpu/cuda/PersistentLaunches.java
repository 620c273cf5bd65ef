package io.framecast.gpu.cuda;

import io.framecast.gpu.device.ResidentGrid;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

/// The persistent kernels of one GPU, whichever backend of this process launched them, and what waits for
/// their end: all backends of a GPU share its primary context, and what waits for one waits for all.
///
/// Any thread may call any method. While a thread holds [#lock] no kernel begins, so a query and a free under the
/// lock are one step. Taken before any lock of a backend.
final class PersistentLaunches {
    private static final Map<String, PersistentLaunches> BY_GPU = new ConcurrentHashMap<>();

    private final ReentrantLock lock = new ReentrantLock();
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

    /// Those of a GPU.
    ///
    /// @param gpu as [CudaBackend#name]
    static PersistentLaunches of(final String gpu) {
        return BY_GPU.computeIfAbsent(gpu, _ -> new PersistentLaunches());
    }

    ReentrantLock lock() {
        return lock;
    }

    /// One is about to be launched: who frees from now on knows of it.
    ///
    /// @param ended will be recorded behind it
    /// @throws io.framecast.api.error.DeviceException when it does not fit beside those that run: nothing
    ///     begins
    void begin(final CudaBackend backend, final CudaStream stream, final CudaEvent ended, final ResidentGrid grid) {
        lock.lock();
        try {
            launches.removeIf(PersistentLaunches::isOver);
            // Kernels on one stream run one behind the other.
            final long taken = launches.stream()
                    .filter(launch -> launch.stream != stream)
                    .mapToLong(launch -> grid.keptOffBy(launch.grid))
                    .sum();
            grid.check(backend.name(), taken);
            launches.add(new Launch(backend, stream, ended, grid, new AtomicBoolean()));
            none = false;
        } finally {
            lock.unlock();
        }
    }

    /// It was launched, and the event recorded.
    void launched(final CudaEvent ended) {
        lock.lock();
        try {
            launches.stream().filter(launch -> launch.ended == ended).forEach(launch -> launch.recorded.set(true));
        } finally {
            lock.unlock();
        }
    }

    /// It was not launched after all.
    void failed(final CudaEvent ended) {
        lock.lock();
        try {
            launches.removeIf(launch -> launch.ended == ended);
        } finally {
            lock.unlock();
        }
    }

    /// A backend is closed, and has waited for its streams.
    void forget(final CudaBackend backend) {
        lock.lock();
        try {
            launches.removeIf(launch -> launch.backend == backend);
        } finally {
            lock.unlock();
        }
    }

    /// Whether one runs.
    boolean any() {
        if (none) {
            return false;
        }
        lock.lock();
        try {
            launches.removeIf(PersistentLaunches::isOver);
            none = launches.isEmpty();
            return !none;
        } finally {
            lock.unlock();
        }
    }

    /// Whether one runs on this stream.
    boolean on(final CudaStream stream) {
        if (none) {
            return false;
        }
        lock.lock();
        try {
            return any() && launches.stream().anyMatch(launch -> launch.stream == stream);
        } finally {
            lock.unlock();
        }
    }

    private static boolean isOver(final Launch launch) {
        final boolean over = launch.recorded.get() && launch.ended.isOver();
        if (over) {
            launch.ended.discard();
        }
        return over;
    }

    /// Frees what a closed backend left: now, or once no persistent kernel runs.
    void whenNoneRuns(final Runnable free) {
        lock.lock();
        try {
            remains.add(free);
            flush();
        } finally {
            lock.unlock();
        }
    }

    /// Frees what closed backends left, unless a persistent kernel runs.
    void flush() {
        lock.lock();
        try {
            while (!remains.isEmpty() && !any()) {
                remains.remove().run();
            }
        } finally {
            lock.unlock();
        }
    }
}
