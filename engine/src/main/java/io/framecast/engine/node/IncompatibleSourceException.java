package io.framecast.engine.node;

import org.jspecify.annotations.Nullable;

/// A source that was heard cannot be subscribed to, for what it says of itself: no reason to stop listening, for
/// anybody may speak on a group.
final class IncompatibleSourceException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final String line;

    IncompatibleSourceException(final String line, final @Nullable Throwable cause) {
        super(line, cause);
        this.line = line;
    }

    /// For the user.
    String line() {
        return line;
    }
}
