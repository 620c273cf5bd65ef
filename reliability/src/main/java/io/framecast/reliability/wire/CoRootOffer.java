package io.framecast.reliability.wire;

/// A receiver's part in the choice of co-roots.
///
/// @param site receivers of one site share a co-root where they can: a host, a rack, or a name given by users
/// @param serves whether it can keep a replica of the window in host memory, and send repairs to others
public record CoRootOffer(int site, boolean serves) {
    /// Does not serve, and has no site.
    public static final CoRootOffer NONE = new CoRootOffer(0, false);
}
