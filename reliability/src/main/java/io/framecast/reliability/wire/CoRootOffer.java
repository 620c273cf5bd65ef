package io.framecast.reliability.wire;

/// What a receiver says of itself when co-roots are chosen.
///
/// @param site receivers of one site share a co-root where they can: a host, a rack, whatever users put
///     together
/// @param serves whether it can keep a copy of the window in host memory, and send repairs to others
public record CoRootOffer(int site, boolean serves) {
    /// Serves nobody, and is nowhere in particular.
    public static final CoRootOffer NONE = new CoRootOffer(0, false);
}
