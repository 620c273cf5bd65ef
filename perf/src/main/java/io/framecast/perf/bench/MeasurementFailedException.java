package io.framecast.perf.bench;

/// One measurement came to nothing. One line.
final class MeasurementFailedException extends Exception {
    private static final long serialVersionUID = 1L;

    private final boolean framesDiffer;

    /// @param framesDiffer whether frames arrived that are not what was published
    MeasurementFailedException(final String message, final boolean framesDiffer) {
        super(message);
        this.framesDiffer = framesDiffer;
    }

    boolean framesDiffer() {
        return framesDiffer;
    }
}
