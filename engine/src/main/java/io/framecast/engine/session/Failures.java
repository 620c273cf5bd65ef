package io.framecast.engine.session;

import io.framecast.api.error.FramecastException;

/// The message for the user when an exception has ended a session.
public final class Failures {
    private Failures() {}

    /// One line: the message of Framecast's own exceptions; any other exception is named by its class.
    public static String line(final String who, final Throwable cause) {
        return cause instanceof FramecastException expected
                ? expected.getMessage()
                : who + " failed: " + cause + "; close it and open another";
    }
}
