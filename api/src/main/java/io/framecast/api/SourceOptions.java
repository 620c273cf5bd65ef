package io.framecast.api;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Whom a subscriber listens to, where it begins, and what it does when a source is lost. A publisher has no
/// use for it.
///
/// @param count most sources of the channel at once, 1 … [#COUNT_MAX]; each takes a ring of its own. With
///     more than one, the subscriber listens until it is closed, whatever becomes of its sources
/// @param rejoinMs how long a source that was lost is waited for, 0 … [#REJOIN_MAX_MS]; 0, the default, waits
///     for none. A subscriber that comes back has missed frames, and after a restart their numbers begin
///     anew: so it must be asked for
/// @param joinAt which frame of a session is the first to be given
public record SourceOptions(int count, int rejoinMs, JoinAt joinAt) {
    public static final int COUNT_MAX = 64;
    public static final int REJOIN_MAX_MS = 86_400_000;
    public static final SourceOptions DEFAULT = new SourceOptions(1, 0, JoinAt.FRAME);

    private static final Pattern TIME = Pattern.compile("([0-9]{1,8})(ms|s)");

    /// Which frame is the first.
    public enum JoinAt {
        /// The next that the source begins.
        FRAME,
        /// The next that is marked as a keyframe; those before it are reported as [LossReason#AWAITS_KEYFRAME].
        /// On a stream that marks none, no frame is ever given.
        KEYFRAME
    }

    public SourceOptions {
        if (count < 1 || count > COUNT_MAX) {
            throw new IllegalArgumentException("sources: expected 1 … " + COUNT_MAX + ", got " + count);
        }
        if (rejoinMs < 0 || rejoinMs > REJOIN_MAX_MS) {
            throw new IllegalArgumentException("rejoin: expected 0 … " + REJOIN_MAX_MS + " ms, got " + rejoinMs);
        }
    }

    /// Whether a source that was lost is waited for.
    public boolean rejoins() {
        return rejoinMs > 0;
    }

    public SourceOptions withCount(final int value) {
        return new SourceOptions(value, rejoinMs, joinAt);
    }

    public SourceOptions withRejoinMs(final int value) {
        return new SourceOptions(count, value, joinAt);
    }

    public SourceOptions withJoinAt(final JoinAt value) {
        return new SourceOptions(count, rejoinMs, value);
    }

    /// Reads a time as it is written in a channel's `rejoin=`: `10s`, `500ms`, `0s`.
    ///
    /// @return milliseconds
    /// @throws IllegalArgumentException naming expectation and value
    public static int rejoinMs(final String text) {
        final Matcher matcher = TIME.matcher(text);
        final long ms = matcher.matches()
                ? Long.parseLong(matcher.group(1)) * (matcher.group(2).equals("s") ? 1000 : 1)
                : -1;
        if (ms < 0 || ms > REJOIN_MAX_MS) {
            throw new IllegalArgumentException(
                    "rejoin: expected a time such as 10s or 500ms, 0s … " + REJOIN_MAX_MS / 1000 + "s, got " + text);
        }
        return (int) ms;
    }
}
