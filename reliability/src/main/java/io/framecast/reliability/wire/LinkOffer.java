package io.framecast.reliability.wire;

/// What a member must know to act on its source's memory, or to read its co-root's copy of the window; or a
/// source to write into that copy.
///
/// @param descriptor of the other side's endpoint, for the transport
/// @param word the member's word of the status vector; a co-root has none
/// @param headers of the window: 40 bytes for each slot
/// @param payload of the window: `slotBytes` for each slot
/// @param guards a [SlotGuard] for each slot
public record LinkOffer(
        byte[] descriptor, RemotePlace word, RemotePlace headers, RemotePlace payload, RemotePlace guards) {
    private static final byte[] NO_DESCRIPTOR = {};

    /// What a co-root says of its copy, over a link that stands.
    public static LinkOffer ofCopy(
            final RemotePlace word, final RemotePlace headers, final RemotePlace payload, final RemotePlace guards) {
        return new LinkOffer(NO_DESCRIPTOR, word, headers, payload, guards);
    }

    /// What a member says of itself to its co-root: whose endpoint it is, and nothing to act on.
    public static LinkOffer ofMember(final byte[] descriptor) {
        return new LinkOffer(descriptor, RemotePlace.NONE, RemotePlace.NONE, RemotePlace.NONE, RemotePlace.NONE);
    }
}
