package io.framecast.engine.node;

import io.framecast.api.error.FramecastException;

/// What a user is told of an exception that ended a session.
final class Failures {
    private Failures() {}

    /// One line: Framecast's own exceptions carry it, anything else is named.
    static String line(final String who, final Throwable cause) {
        return cause instanceof FramecastException expected
                ? expected.getMessage()
                : who + " failed: " + cause + "; close it and open another";
    }
}
