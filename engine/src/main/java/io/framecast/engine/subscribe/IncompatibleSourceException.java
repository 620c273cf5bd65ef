package io.framecast.engine.subscribe;

import org.jspecify.annotations.Nullable;

/// A source was heard whose announced configuration this subscriber cannot use. The subscriber goes on listening,
/// because any process may send to a group.
final class IncompatibleSourceException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final boolean ofRingMax;

    /// @param line for the user
    IncompatibleSourceException(final String line, final @Nullable Throwable cause) {
        super(line, cause);
        ofRingMax = false;
    }

    private IncompatibleSourceException(final String line) {
        super(line);
        ofRingMax = true;
    }

    /// The source wants more memory here than `ring-max=` allows.
    static IncompatibleSourceException ofRingMax(final String line) {
        return new IncompatibleSourceException(line);
    }

    boolean isOfRingMax() {
        return ofRingMax;
    }
}
