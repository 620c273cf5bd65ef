package io.framecast.samples;

/// The user ended the run before there was anything to report. One line.
final class StoppedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    StoppedException(final String message) {
        super(message);
    }
}
