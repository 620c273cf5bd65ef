package io.framecast.engine.subscribe;

import org.jspecify.annotations.Nullable;

/// A source was heard whose announced configuration this subscriber cannot use. The subscriber goes on listening,
/// because any process may send to a group.
public final class IncompatibleSourceException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final String line;

    IncompatibleSourceException(final String line, final @Nullable Throwable cause) {
        super(line, cause);
        this.line = line;
    }

    /// For the user.
    public String line() {
        return line;
    }
}
