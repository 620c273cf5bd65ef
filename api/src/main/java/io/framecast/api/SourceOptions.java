package io.framecast.api;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Whom a subscriber listens to, where it begins, and what it does when a source is lost. A publisher has no
/// use for it but for the host group.
///
/// @param count most sources of the channel at once, 1 … [#COUNT_MAX]; each takes a ring of its own. With
///     more than one, the subscriber listens until it is closed, whatever becomes of its sources
/// @param rejoinMs how long a source that was lost is waited for, 0 … [#REJOIN_MAX_MS]. A subscriber that comes
///     back has missed frames, and after a restart their numbers begin anew: so the default, [#REJOIN_AUTO],
///     waits only under `latest`, for [#REJOIN_LATEST_MS] ([StreamConfig#rejoinMs])
/// @param joinAt which frame of a session is the first to be given
/// @param hostGroup subscribers of this name on one host receive the stream once, and share it:
///     [#NO_HOST_GROUP], `auto`, or 1 … 64 of letters, digits, '.', '_', '-'. A publisher with any name lets all
///     of them read its window, and sends them nothing
/// @param leaders how many of a host group receive the stream; nothing without a host group
/// @param attachAfterMs a leader that shows no sign of life for so long is replaced by one of those who follow it,
///     [#ATTACH_AFTER_MIN_MS] … [#ATTACH_AFTER_MAX_MS]. Nothing is lost to these; the one that stood still misses
///     what is published until it follows. A takeover itself costs about a tenth of the default
public record SourceOptions(
        int count, int rejoinMs, JoinAt joinAt, String hostGroup, Leaders leaders, int attachAfterMs) {
    /// Each subscriber receives the stream itself.
    public static final String NO_HOST_GROUP = "off";

    public static final int COUNT_MAX = 64;
    public static final int REJOIN_MAX_MS = 86_400_000;
    /// What the delivery suggests: a subscriber under `latest` shows what is live, and expects gaps.
    public static final int REJOIN_AUTO = -1;
    public static final int REJOIN_LATEST_MS = 3_600_000;
    public static final int ATTACH_AFTER_MIN_MS = 40;
    public static final int ATTACH_AFTER_MAX_MS = 60_000;
    public static final SourceOptions DEFAULT =
            new SourceOptions(1, REJOIN_AUTO, JoinAt.FRAME, NO_HOST_GROUP, Leaders.HOST, 1_000);

    private static final Pattern TIME = Pattern.compile("([0-9]{1,8})(ms|s|m|h)");

    /// Which frame is the first.
    public enum JoinAt {
        /// The next that the source begins.
        FRAME,
        /// The next that is marked as a keyframe; those before it are reported as [LossReason#AWAITS_KEYFRAME].
        /// On a stream that marks none, no frame is ever given.
        KEYFRAME
    }

    /// Which subscribers of a host group share one leader.
    public enum Leaders {
        /// All of them.
        HOST,
        /// Those of one NUMA node: that of the subscriber's device, else of the CPUs that its process may run on.
        /// The leader's ring lies in memory of that node.
        SOCKET,
        /// Those with the same nearest network interface. A subscriber of a channel without `interface=` receives by
        /// the one nearest to its GPU.
        NIC
    }

    public SourceOptions {
        if (count < 1 || count > COUNT_MAX) {
            throw new IllegalArgumentException("sources: expected 1 … " + COUNT_MAX + ", got " + count);
        }
        if (rejoinMs < REJOIN_AUTO || rejoinMs > REJOIN_MAX_MS) {
            throw new IllegalArgumentException("rejoin: expected 0 … " + REJOIN_MAX_MS + " ms, got " + rejoinMs);
        }
        ChannelKey.requireHostGroup(hostGroup);
        if (attachAfterMs < ATTACH_AFTER_MIN_MS || attachAfterMs > ATTACH_AFTER_MAX_MS) {
            throw new IllegalArgumentException("attach-after: expected " + ATTACH_AFTER_MIN_MS + " … "
                    + ATTACH_AFTER_MAX_MS + " ms, got " + attachAfterMs);
        }
    }

    public SourceOptions withCount(final int value) {
        return new SourceOptions(value, rejoinMs, joinAt, hostGroup, leaders, attachAfterMs);
    }

    public SourceOptions withRejoinMs(final int value) {
        return new SourceOptions(count, value, joinAt, hostGroup, leaders, attachAfterMs);
    }

    public SourceOptions withJoinAt(final JoinAt value) {
        return new SourceOptions(count, rejoinMs, value, hostGroup, leaders, attachAfterMs);
    }

    public SourceOptions withHostGroup(final String value) {
        return new SourceOptions(count, rejoinMs, joinAt, value, leaders, attachAfterMs);
    }

    public SourceOptions withLeaders(final Leaders value) {
        return new SourceOptions(count, rejoinMs, joinAt, hostGroup, value, attachAfterMs);
    }

    public SourceOptions withAttachAfterMs(final int value) {
        return new SourceOptions(count, rejoinMs, joinAt, hostGroup, leaders, value);
    }

    /// Reads a time as it is written in a channel's `rejoin=`: `10s`, `500ms`, `5m`, `1h`, `0s`.
    ///
    /// @return milliseconds
    /// @throws IllegalArgumentException naming expectation and value
    public static int rejoinMs(final String text) {
        final long ms = ms(text);
        if (ms < 0 || ms > REJOIN_MAX_MS) {
            throw new IllegalArgumentException(
                    "rejoin: expected a time such as 10s or 1h, 0s … " + REJOIN_MAX_MS / 1000 + "s, got " + text);
        }
        return (int) ms;
    }

    /// Reads a channel's `attach-after=`: `200ms`, `2s`.
    ///
    /// @return milliseconds
    /// @throws IllegalArgumentException naming expectation and value
    static int attachAfterMs(final String text) {
        final long ms = ms(text);
        if (ms < ATTACH_AFTER_MIN_MS || ms > ATTACH_AFTER_MAX_MS) {
            throw new IllegalArgumentException("attach-after: expected a time such as 200ms or 2s, "
                    + ATTACH_AFTER_MIN_MS + "ms … " + ATTACH_AFTER_MAX_MS / 1000 + "s, got " + text);
        }
        return (int) ms;
    }

    // −1 for what is none.
    static long ms(final String text) {
        final Matcher matcher = TIME.matcher(text);
        return matcher.matches() ? Long.parseLong(matcher.group(1)) * unitMs(matcher.group(2)) : -1;
    }

    private static long unitMs(final String unit) {
        return switch (unit) {
            case "ms" -> 1;
            case "s" -> 1_000;
            case "m" -> 60_000;
            default -> 3_600_000;
        };
    }
}
