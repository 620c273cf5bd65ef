package io.framecast.engine.aeron;

import java.util.concurrent.locks.LockSupport;

/// Waits for the media driver of this machine, while a transport opens or closes. Lanes never wait.
final class Waiting {
    private static final long PAUSE_NS = 100_000;

    private Waiting() {}

    static void pause() {
        LockSupport.parkNanos(PAUSE_NS);
    }
}
