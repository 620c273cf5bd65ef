package io.framecast.reliability.lane;

import java.lang.foreign.MemorySegment;

/// Opens datagrams of the data and repair lanes where they arrived, before anything of them counts: checks their
/// tag, and decrypts the payload where the stream has a cipher.
///
/// Threading: the receiver's thread. Nothing blocks or allocates in steady state.
public interface DataOpener {
    /// Opens one datagram. To be called once for each that lands.
    ///
    /// @param header offset of its header in
    ///     `headers`; [io.framecast.reliability.wire.DataLayout#SEALED_LENGTH] bytes
    /// @param payload memory of payloads; of length 0 where the host does not address it: then only headers can be
    ///     checked
    /// @param at offset of its payload in `payload`
    /// @param bytes length of the payload, 0 or more
    /// @return false where its tag is not that of the stream's key
    boolean open(MemorySegment headers, long header, MemorySegment payload, long at, int bytes);

    /// Encrypts a copy of a payload that was opened: it becomes the very bytes that arrived. To be called before the
    /// next datagram is opened.
    ///
    /// @param headers with the header of the opened datagram
    /// @param at offset of the copy in `payload`
    void reseal(MemorySegment headers, long header, MemorySegment payload, long at, int bytes);
}
