package io.framecast.api;

/// Typed metadata: records to bytes and back. A codec knows only the records it was made with; bytes that are anything
/// else end in an exception and have no other effect (no class loading, no large allocation).
///
/// Threading: one thread at a time.
public interface Codec {
    /// @throws io.framecast.api.error.CodecException when the record is not registered or encodes to more than
    ///     [FrameOptions#METADATA_BYTES_MAX] bytes
    byte[] encode(Record value);

    /// @throws io.framecast.api.error.CodecException when the bytes are not exactly one record of this type
    <T extends Record> T decode(Class<T> type, byte[] bytes);
}
