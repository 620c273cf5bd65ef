package io.framecast.samples;

/// A process of the demo failed: its own line, and the status it ended with.
final class ChildFailedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int status;

    ChildFailedException(final int status, final String message) {
        super(message);
        this.status = status;
    }

    int status() {
        return status;
    }
}
