package io.framecast.samples;

import io.framecast.api.error.FramecastException;
import picocli.CommandLine.ParameterException;

/// What the tool's exit statuses mean, and which of them a failure is.
final class ExitStatus {
    /// Done, and verified where there was something to verify.
    static final int DONE = 0;
    /// Frames arrived that are not what was published.
    static final int MISMATCH = 1;
    /// Usage or environment: mended by the user before another try.
    static final int USAGE = 2;
    /// A peer was lost.
    static final int PEER_LOST = 3;
    /// The user ended the run before its end: what was carried is not the whole. As shells report Ctrl-C.
    static final int INTERRUPTED = 130;

    private ExitStatus() {}

    static int of(final Throwable failure) {
        return switch (failure) {
            case PeerLostException _ -> PEER_LOST;
            case StoppedException _ -> INTERRUPTED;
            case ChildFailedException e -> e.status();
            default -> USAGE;
        };
    }

    /// The failure in one line.
    static String line(final Throwable failure) {
        final String message = String.valueOf(failure.getMessage()).strip().replaceAll("\\s*\\R\\s*", "; ");
        return switch (failure) {
            case FramecastException _ -> message;
            case PeerLostException _ -> message;
            case StoppedException _ -> message;
            case ChildFailedException _ -> message;
            case ParameterException _ -> message;
            case OutOfMemoryError _ -> "not enough memory: " + message + "; shorter frames or a smaller ring need less";
            default -> "internal error: " + failure.getClass().getName() + ": " + message;
        };
    }
}
