package io.framecast.perf.harness;

/// A measurement came to nothing. The message is one line.
public final class MeasurementFailedException extends Exception {
    private static final long serialVersionUID = 1L;

    private final Reason reason;

    /// Why a measurement came to nothing.
    public enum Reason {
        FAILED,
        /// Frames arrived that differ from those published.
        FRAMES_DIFFER,
        /// No process moved until the time was over.
        STUCK
    }

    public MeasurementFailedException(final String message, final Reason reason) {
        super(message);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
