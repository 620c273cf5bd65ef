package io.framecast.reliability.crypto;

import java.lang.foreign.MemorySegment;

/// Seals and opens datagrams in place under one key: authenticated encryption with associated data (McGrew 2008,
/// RFC 5116), tags of 16 bytes, nonces of 12: an int in front of a long, big-endian. A nonce seals one datagram
/// only: repairs repeat the sealed bytes.
///
/// One thread at a time. Nothing is allocated for a datagram, but by the JDK's ciphers.
public interface Aead extends AutoCloseable {
    int TAG_BYTES = 16;
    int NONCE_BYTES = 12;

    /// The cipher's name.
    String name();

    /// Encrypts the payload, and writes the tag over header and payload. The tag lies in the header's memory.
    ///
    /// @param header offset of the header in `headers`
    /// @param tagAt where the tag goes in `headers`
    /// @param at offset of the payload in `payloads`
    void seal(
            int lane,
            long number,
            MemorySegment headers,
            long header,
            int headerBytes,
            long tagAt,
            MemorySegment payloads,
            long at,
            int payloadBytes);

    /// Decrypts the payload. The tag lies in the header's memory.
    ///
    /// @param header offset of the header in `headers`
    /// @param tagAt offset of the tag in `headers`
    /// @param at offset of the payload in `payloads`
    /// @return false where the tag is not that of header and payload under this key and nonce: then the payload
    ///     is garbage, which its user must not read
    boolean open(
            int lane,
            long number,
            MemorySegment headers,
            long header,
            int headerBytes,
            long tagAt,
            MemorySegment payloads,
            long at,
            int payloadBytes);

    /// Seals a datagram in one piece: the payload follows the header.
    ///
    /// @param at offset of the header
    /// @param tagAt where the tag goes
    default void seal(
            final int lane,
            final long number,
            final MemorySegment memory,
            final long at,
            final int headerBytes,
            final int payloadBytes,
            final long tagAt) {
        seal(lane, number, memory, at, headerBytes, tagAt, memory, at + headerBytes, payloadBytes);
    }

    /// Opens a datagram in one piece.
    ///
    /// @param at offset of the header
    /// @param tagAt offset of the tag
    default boolean open(
            final int lane,
            final long number,
            final MemorySegment memory,
            final long at,
            final int headerBytes,
            final int payloadBytes,
            final long tagAt) {
        return open(lane, number, memory, at, headerBytes, tagAt, memory, at + headerBytes, payloadBytes);
    }

    /// Wipes the key.
    @Override
    void close();
}
