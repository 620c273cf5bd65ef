package io.framecast.api.error;

/// A native function that failed, with the errno it left.
public final class NativeException extends TransportException {
    private static final long serialVersionUID = 1L;

    private final String function;
    private final int errno;

    /// @param meaning of the errno here, and how to fix it
    public NativeException(final String function, final int errno, final String meaning) {
        super(function + ": errno " + errno + ", " + meaning);
        this.function = function;
        this.errno = errno;
    }

    public String function() {
        return function;
    }

    public int errno() {
        return errno;
    }
}
