package io.framecast.reliability;

/// How many co-roots a source chooses, how its members are put into sets, and how data gets to co-roots.
///
/// @param count most co-roots, or [#AUTO]: by [CoRootModel]; 0: everybody reports to the source
/// @param feed how co-roots get what they keep
/// @param sets who shares a co-root
public record CoRootConfig(int count, Feed feed, Sets sets) {
    /// As many as the cost model says.
    public static final int AUTO = -1;
    public static final int COUNT_MAX = 256;
    /// Nobody serves.
    public static final CoRootConfig NONE = new CoRootConfig(0, Feed.MULTICAST, Sets.SITE);
    public static final CoRootConfig DEFAULT = new CoRootConfig(AUTO, Feed.MULTICAST, Sets.SITE);

    /// How co-roots get data.
    public enum Feed {
        /// As everybody does; what they miss they ask for.
        MULTICAST,
        /// Each datagram also by unicast, which costs the source one more datagram per co-root (seed 004:
        /// "Root sends reliable point to point transfer to co-roots and multicast to all other nodes").
        UNICAST
    }

    /// Who shares a co-root.
    public enum Sets {
        /// Members of one site first: one host, or whatever users named alike.
        SITE,
        /// Members in the order in which they came.
        BLOCK
    }

    public CoRootConfig {
        if (count < AUTO || count > COUNT_MAX) {
            throw new IllegalArgumentException("co-roots: expected auto or 0 … " + COUNT_MAX + ", got " + count);
        }
    }
}
