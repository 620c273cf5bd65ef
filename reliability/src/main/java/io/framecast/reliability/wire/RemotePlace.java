package io.framecast.reliability.wire;

/// Where something begins in a peer's memory, as that peer tells it: meant for nothing but the connection to
/// it.
///
/// @param address what the peer calls its first byte
/// @param key what must be shown
public record RemotePlace(long address, int key) {
    /// Nothing may be done.
    public static final RemotePlace NONE = new RemotePlace(0, 0);
}
