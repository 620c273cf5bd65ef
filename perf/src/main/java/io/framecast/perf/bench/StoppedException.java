package io.framecast.perf.bench;

/// The user wants to end before the end.
final class StoppedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    StoppedException() {
        super("stopped");
    }
}
