package io.framecast.api;

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
/// @param attachAfterMs a leader that shows no sign of life for so long is replaced by one of its followers,
///     [#ATTACH_AFTER_MIN_MS] … [#ATTACH_AFTER_MAX_MS]. Nothing is lost to these; the one that stood still misses
///     frames until it follows. A takeover itself costs about a tenth of the default
public record SourceOptions(
        int count, int rejoinMs, JoinAt joinAt, String hostGroup, Leaders leaders, int attachAfterMs) {
    /// Each subscriber receives the stream itself.
    public static final String NO_HOST_GROUP = "off";

    public static final int COUNT_MAX = 64;
    public static final int REJOIN_MAX_MS = 86_400_000;
    /// As the delivery suggests: a subscriber under `latest` shows live frames, and expects gaps.
    public static final int REJOIN_AUTO = -1;
    public static final int REJOIN_LATEST_MS = 3_600_000;
    public static final int ATTACH_AFTER_MIN_MS = 40;
    public static final int ATTACH_AFTER_MAX_MS = 60_000;
    public static final SourceOptions DEFAULT = of(ChannelKey::defaultValue);

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
        ChannelKey.SOURCES.require(count);
        ChannelKey.REJOIN.require(rejoinMs);
        ChannelKey.HOST_GROUP.require(hostGroup);
        ChannelKey.ATTACH_AFTER.require(attachAfterMs);
    }

    static SourceOptions of(final KeyValues values) {
        return new SourceOptions(
                values.get(ChannelKey.SOURCES),
                values.get(ChannelKey.REJOIN),
                values.get(ChannelKey.JOIN),
                values.get(ChannelKey.HOST_GROUP),
                values.get(ChannelKey.LEADERS),
                values.get(ChannelKey.ATTACH_AFTER));
    }

    public SourceOptions withCount(final int value) {
        return with(ChannelKey.SOURCES, value);
    }

    public SourceOptions withRejoinMs(final int value) {
        return with(ChannelKey.REJOIN, value);
    }

    public SourceOptions withJoinAt(final JoinAt value) {
        return with(ChannelKey.JOIN, value);
    }

    public SourceOptions withHostGroup(final String value) {
        return with(ChannelKey.HOST_GROUP, value);
    }

    public SourceOptions withLeaders(final Leaders value) {
        return with(ChannelKey.LEADERS, value);
    }

    public SourceOptions withAttachAfterMs(final int value) {
        return with(ChannelKey.ATTACH_AFTER, value);
    }

    private SourceOptions with(final ChannelKey key, final Object value) {
        return of(KeyValues.of(this).with(key, value));
    }

    /// Reads a time as it is written in a channel's `rejoin=`: `10s`, `500ms`, `5m`, `1h`, `0s`.
    ///
    /// @return milliseconds
    /// @throws IllegalArgumentException naming expectation and value
    public static int rejoinMs(final String text) {
        return KeySyntax.REJOIN_TIME.read(ChannelKey.REJOIN.key(), text);
    }
}
