package io.framecast.reliability.wire;

/// The values that a member needs to act on its source's memory, or to read its co-root's replica of the window; or
/// that a source needs to write into that replica.
///
/// @param descriptor of the other side's endpoint, for the transport
/// @param word the member's word of the status vector; a co-root has none
/// @param headers of the window: 40 bytes for each slot
/// @param payload of the window: `slotBytes` for each slot
/// @param guards a [SlotGuard] for each slot
public record EndpointOffer(
        byte[] descriptor, RemotePlace word, RemotePlace headers, RemotePlace payload, RemotePlace guards) {
    private static final byte[] NO_DESCRIPTOR = {};

    /// A co-root's announcement of its replica, over a connection that stands.
    public static EndpointOffer ofCopy(
            final RemotePlace word, final RemotePlace headers, final RemotePlace payload, final RemotePlace guards) {
        return new EndpointOffer(NO_DESCRIPTOR, word, headers, payload, guards);
    }

    /// A member's announcement to its co-root: the endpoint's descriptor only.
    public static EndpointOffer ofMember(final byte[] descriptor) {
        return new EndpointOffer(descriptor, RemotePlace.NONE, RemotePlace.NONE, RemotePlace.NONE, RemotePlace.NONE);
    }
}
