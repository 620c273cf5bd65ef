package io.framecast.api.error;

/// A transport that cannot go on: a socket, queue pair or media driver failed. The lane that threw is closed.
public non-sealed class TransportException extends FramecastException {
    private static final long serialVersionUID = 1L;

    public TransportException(final String message) {
        super(message);
    }

    public TransportException(final String message, final Throwable cause) {
        super(message, cause);
    }
}
