package io.framecast.reliability.wire;

/// The fields that all datagrams of one frame share. Mutable and reused: one per publisher.
public final class DataHeader {
    int type = DataLayout.TYPE_DATA;
    long session;
    int flags;
    int format;
    int metadataBytes;
    long frameId;
    long timestampNs;
    long frameBytes;

    /// Sets the fields of the stream.
    public DataHeader session(final int datagramType, final long nonce) {
        type = datagramType;
        session = nonce;
        return this;
    }

    /// Sets the frame's number, length and timestamp.
    public DataHeader frame(final long id, final long lengthBytes, final long sourceTimestampNs) {
        frameId = id;
        frameBytes = lengthBytes;
        timestampNs = sourceTimestampNs;
        return this;
    }

    /// Sets the number of the frame's format, 0 … 15.
    public DataHeader format(final int number) {
        format = number;
        return this;
    }

    /// Sets the frame's flags and its metadata's length.
    public DataHeader attributes(final int frameFlags, final int frameMetadataBytes) {
        flags = frameFlags;
        metadataBytes = frameMetadataBytes;
        return this;
    }
}
