package io.framecast.perf.harness;

/// A frame arrived that is not what was published. One line.
public final class FramesDifferException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public FramesDifferException(final String message) {
        super(message);
    }
}
