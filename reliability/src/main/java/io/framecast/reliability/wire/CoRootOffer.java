package io.framecast.reliability.wire;

/// A receiver's part in the choice of co-roots.
///
/// @param site receivers of one site share a co-root where they can: a host, a rack, or a name given by users
/// @param serves whether it can have a replica of the window in host memory, and send repairs to other members
/// @param fedOnly whether it serves only from a replica that the source writes over its endpoint: its own
///     payloads go where it cannot read them
public record CoRootOffer(int site, boolean serves, boolean fedOnly) {
    /// Does not serve, and has no site.
    public static final CoRootOffer NONE = new CoRootOffer(0, false);

    /// Of a receiver that keeps its datagrams, if it serves.
    public CoRootOffer(final int site, final boolean serves) {
        this(site, serves, false);
    }
}
