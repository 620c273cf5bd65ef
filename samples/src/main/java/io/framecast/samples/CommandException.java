package io.framecast.samples;

/// A command that ended before its work was done: why, in one line, and the exit status for it.
public class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int status;

    /// @param status one of [ExitStatus]
    public CommandException(final int status, final String message) {
        super(message);
        this.status = status;
    }

    public final int status() {
        return status;
    }
}
