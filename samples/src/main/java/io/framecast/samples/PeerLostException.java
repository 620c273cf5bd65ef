package io.framecast.samples;

/// A process on the other end that is gone, or that never answered.
public final class PeerLostException extends CommandException {
    private static final long serialVersionUID = 1L;

    public PeerLostException(final String message) {
        super(ExitStatus.PEER_LOST, message);
    }
}
