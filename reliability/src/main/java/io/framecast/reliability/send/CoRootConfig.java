package io.framecast.reliability.send;

/// The number of co-roots, and the path of data to them.
///
/// @param count most co-roots, or [#AUTO]: by [CoRootModel]; 0: all members report to the source
/// @param feed how co-roots get the datagrams that they keep
public record CoRootConfig(int count, Feed feed) {
    /// As many as the cost model suggests.
    public static final int AUTO = -1;
    public static final int COUNT_MAX = 256;
    /// No receiver serves.
    public static final CoRootConfig NONE = new CoRootConfig(0, Feed.MULTICAST);
    public static final CoRootConfig DEFAULT = new CoRootConfig(AUTO, Feed.MULTICAST);

    /// How co-roots get data.
    public enum Feed {
        /// As all members do; a co-root asks for datagrams that it misses.
        MULTICAST,
        /// Where a co-root has an RC connection the source also writes its window into the co-root's replica,
        /// which costs it each payload once more per co-root (Subramoni: "Root sends reliable point to point
        /// transfer to co-roots and multicast to all other nodes").
        UNICAST
    }

    public CoRootConfig {
        if (count < AUTO || count > COUNT_MAX) {
            throw new IllegalArgumentException("co-roots: expected auto or 0 … " + COUNT_MAX + ", got " + count);
        }
    }
}
