package io.framecast.reliability.lane;

import java.lang.foreign.MemorySegment;

/// Seals datagrams of the data lane where they lie in the window, once, before they are first sent: writes the bytes
/// behind the 40 of their header, and encrypts the payload where the stream has a cipher. Repairs repeat the sealed
/// bytes.
///
/// Threading: the sender's thread. Nothing blocks or allocates in steady state.
public interface DataSealer {
    /// Seals one datagram, whose header has its checksum.
    ///
    /// @param header offset of its header in
    ///     `headers`; [io.framecast.reliability.wire.DataLayout#SEALED_LENGTH] bytes
    /// @param at offset of its payload in `payload`
    /// @param bytes length of the payload
    void seal(MemorySegment headers, long header, MemorySegment payload, long at, int bytes);

    /// Whether it changes the payload: no other thread may write any of it meanwhile.
    default boolean sealsPayload() {
        return true;
    }
}
