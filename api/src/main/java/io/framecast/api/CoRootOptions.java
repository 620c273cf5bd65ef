package io.framecast.api;

/// Settings of co-roots, which help a source with a large group. A co-root is a subscriber that collects the
/// acknowledgements of a repair group of other subscribers, keeps a copy of the window in host memory, and
/// repairs from it. The source hears each co-root instead of each subscriber.
///
/// @param count publisher: most co-roots, 0 … [#COUNT_MAX], or [#AUTO]: none below 16 subscribers, then about
///     the square root of their number
/// @param feed publisher: how co-roots get what they keep
/// @param site subscriber: subscribers of one site share a co-root where they can; empty for this host
/// @param serves subscriber: whether it may become a co-root. A subscriber whose placement is `direct` never
///     does, whatever this says: its payloads are not in host memory, from which a co-root repairs
public record CoRootOptions(int count, Feed feed, String site, boolean serves) {
    public static final int AUTO = -1;
    public static final int COUNT_MAX = 256;
    public static final CoRootOptions DEFAULT = of(ChannelKey::defaultValue);

    /// How co-roots get what they keep.
    public enum Feed {
        /// As everybody does.
        MULTICAST,
        /// Over transports that write peers' memory (`verbs`) also by writes into co-roots' replicas: co-roots
        /// lose and copy nothing, and each payload is sent once more for each co-root. Over others nothing is
        /// written.
        UNICAST
    }

    public CoRootOptions {
        ChannelKey.CO_ROOTS.require(count);
        ChannelKey.SITE.require(site);
    }

    static CoRootOptions of(final KeyValues values) {
        return new CoRootOptions(
                values.get(ChannelKey.CO_ROOTS),
                values.get(ChannelKey.FEED),
                values.get(ChannelKey.SITE),
                values.get(ChannelKey.SERVE));
    }

    public CoRootOptions withCount(final int value) {
        return with(ChannelKey.CO_ROOTS, value);
    }

    public CoRootOptions withFeed(final Feed value) {
        return with(ChannelKey.FEED, value);
    }

    public CoRootOptions withSite(final String value) {
        return with(ChannelKey.SITE, value);
    }

    public CoRootOptions withServes(final boolean value) {
        return with(ChannelKey.SERVE, value);
    }

    private CoRootOptions with(final ChannelKey key, final Object value) {
        return of(KeyValues.of(this).with(key, value));
    }
}
