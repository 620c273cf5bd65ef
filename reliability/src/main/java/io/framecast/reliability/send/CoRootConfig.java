package io.framecast.reliability.send;

/// The number of co-roots, the grouping of members, and the path of data to co-roots.
///
/// @param count most co-roots, or [#AUTO]: by [CoRootModel]; 0: all members report to the source
/// @param feed how co-roots get the datagrams that they keep
/// @param sets how members are grouped
public record CoRootConfig(int count, Feed feed, Sets sets) {
    /// As many as the cost model suggests.
    public static final int AUTO = -1;
    public static final int COUNT_MAX = 256;
    /// No receiver serves.
    public static final CoRootConfig NONE = new CoRootConfig(0, Feed.MULTICAST, Sets.SITE);
    public static final CoRootConfig DEFAULT = new CoRootConfig(AUTO, Feed.MULTICAST, Sets.SITE);

    /// How co-roots get data.
    public enum Feed {
        /// As all members do; a co-root asks for datagrams that it misses.
        MULTICAST,
        /// Each datagram also by unicast, which costs the source one more datagram per co-root (Subramoni: "Root
        /// sends reliable point to point transfer to co-roots and multicast to all other nodes").
        UNICAST
    }

    /// The members that share a co-root.
    public enum Sets {
        /// Members of one site first: of one host, or of one name given by users.
        SITE,
        /// Members in the order of their joining.
        BLOCK
    }

    public CoRootConfig {
        if (count < AUTO || count > COUNT_MAX) {
            throw new IllegalArgumentException("co-roots: expected auto or 0 … " + COUNT_MAX + ", got " + count);
        }
    }
}
