package io.framecast.perf.harness;

/// The user wants to end before the end.
public final class StoppedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public StoppedException() {
        super("stopped");
    }
}
