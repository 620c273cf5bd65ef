package io.framecast.engine.session;

import io.framecast.api.error.FramecastException;

/// The message for the user when an exception has ended a session.
public final class Failures {
    private Failures() {}

    /// One line: the message of Framecast's own exceptions; any other exception is named by its class.
    public static String line(final String who, final Throwable cause) {
        return switch (cause) {
            case FramecastException expected -> String.valueOf(expected.getMessage());
            // So Java reports the signal of a page that a file system has no room for.
            case InternalError _ ->
                who + " failed: a mapped file cannot be read or written: is /dev/shm full, or the directory for"
                        + " temporary files? Free space there (df), close it and open another";
            default -> who + " failed: " + cause + "; close it and open another";
        };
    }
}
