package io.framecast.reliability.wire;

/// What all datagrams of one frame have in common. Mutable and reused: one per publisher.
public final class DataHeader {
    private int type = DataLayout.TYPE_DATA;
    private long session;
    private int flags;
    private int metadataBytes;
    private long frameId;
    private long timestampNs;
    private long frameBytes;

    /// Sets what names the stream.
    public DataHeader session(final int datagramType, final long nonce) {
        type = datagramType;
        session = nonce;
        return this;
    }

    /// Sets what names the frame.
    public DataHeader frame(final long id, final long lengthBytes, final long sourceTimestampNs) {
        frameId = id;
        frameBytes = lengthBytes;
        timestampNs = sourceTimestampNs;
        return this;
    }

    /// Sets what describes the frame.
    public DataHeader attributes(final int frameFlags, final int frameMetadataBytes) {
        flags = frameFlags;
        metadataBytes = frameMetadataBytes;
        return this;
    }

    int type() {
        return type;
    }

    long session() {
        return session;
    }

    int flags() {
        return flags;
    }

    int metadataBytes() {
        return metadataBytes;
    }

    long frameId() {
        return frameId;
    }

    long timestampNs() {
        return timestampNs;
    }

    long frameBytes() {
        return frameBytes;
    }
}
