package io.framecast.samples;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// The wish to end early, from Ctrl-C or SIGTERM to the running command. The virtual machine reports both as a
/// shutdown hook and ends when that returns, so the hook waits for the work to end in order.
public final class Stop {
    /// Longer than any linger of a stopped publisher; then the process ends anyway.
    private static final long FINISH_MAX_S = 30;

    private final List<Runnable> actions = new ArrayList<>();
    private final CountDownLatch finished = new CountDownLatch(1);
    private volatile boolean requested;
    private volatile boolean deferred;
    private volatile int status;

    public boolean isRequested() {
        return requested;
    }

    /// Runs `action` when stopping is requested, on the requester's thread; at once if it was already.
    public void onRequest(final Runnable action) {
        synchronized (actions) {
            actions.add(action);
        }
        if (requested) {
            action.run();
        }
    }

    public void request() {
        requested = true;
        final List<Runnable> all;
        synchronized (actions) {
            all = List.copyOf(actions);
        }
        all.forEach(Runnable::run);
    }

    /// From now on a signal stops nothing: this process ends when its work does. For a subscriber of the demo: the
    /// terminal sends Ctrl-C to every process at once, and the subscriber must still see the end of the stream.
    public void defer() {
        deferred = true;
    }

    /// The work has ended with this exit status.
    public void finish(final int exitStatus) {
        status = exitStatus;
        finished.countDown();
    }

    /// Makes the process end through the work's own end when it is signalled.
    public void install() {
        Runtime.getRuntime().addShutdownHook(new Thread(this::onShutdown, "framecast-stop"));
    }

    private void onShutdown() {
        if (finished.getCount() == 0) {
            return;
        }
        if (!deferred) {
            request();
        }
        try {
            if (finished.await(FINISH_MAX_S, TimeUnit.SECONDS)) {
                // Without this the exit status would be the signal's.
                Runtime.getRuntime().halt(status);
            }
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
