package io.framecast.reliability.wire;

/// The address of something in a peer's memory, as that peer announced it: valid over the connection to that peer
/// only.
///
/// @param address the peer's address of the first byte
/// @param key the key that an operation must show
public record RemotePlace(long address, int key) {
    /// No operation is permitted.
    public static final RemotePlace NONE = new RemotePlace(0, 0);
}
