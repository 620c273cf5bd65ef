package io.framecast.samples;

import io.framecast.api.error.FramecastException;
import picocli.CommandLine.ParameterException;

/// The tool's exit statuses, and the status of each failure.
public final class ExitStatus {
    /// Done, and verified where there was something to verify.
    public static final int DONE = 0;
    /// Frames arrived that differ from the published ones, or the machine lacks something.
    public static final int MISMATCH = 1;
    /// Usage or environment: the user fixes it before another try.
    public static final int USAGE = 2;
    /// A peer was lost.
    public static final int PEER_LOST = 3;
    /// The user ended the run before its end: a part of the frames is missing. As shells report Ctrl-C.
    public static final int INTERRUPTED = 130;

    private ExitStatus() {}

    public static int of(final Throwable failure) {
        return switch (failure) {
            case CommandException e -> e.status();
            default -> USAGE;
        };
    }

    /// The failure in one line.
    public static String line(final Throwable failure) {
        final String message = String.valueOf(failure.getMessage()).strip().replaceAll("\\s*\\R\\s*", "; ");
        return switch (failure) {
            case FramecastException _, CommandException _, ParameterException _ -> message;
            case OutOfMemoryError _ -> "not enough memory: " + message + "; shorter frames or a smaller ring need less";
            default -> "internal error: " + failure.getClass().getName() + ": " + message;
        };
    }
}
