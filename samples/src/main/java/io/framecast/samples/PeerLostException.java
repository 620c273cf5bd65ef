package io.framecast.samples;

/// The other end went away before the stream ended. One line.
public final class PeerLostException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public PeerLostException(final String message) {
        super(message);
    }
}
