package io.framecast.reliability;

import org.jspecify.annotations.Nullable;

/// One whole frame, as [ReceiverMachine#pollFrame] found it. Reused; read it before the next poll.
public final class ReceivedFrame {
    private long frameId;
    private long firstSequence;
    private long bytes;
    private long timestampNs;
    private int flags;
    private byte @Nullable [] metadata;

    void set(final long id, final long sequence, final long lengthBytes) {
        frameId = id;
        firstSequence = sequence;
        bytes = lengthBytes;
    }

    void attributes(final long sourceTimestampNs, final int frameFlags, final byte @Nullable [] frameMetadata) {
        timestampNs = sourceTimestampNs;
        flags = frameFlags;
        metadata = frameMetadata;
    }

    public long frameId() {
        return frameId;
    }

    public long firstSequence() {
        return firstSequence;
    }

    public long bytes() {
        return bytes;
    }

    public long timestampNs() {
        return timestampNs;
    }

    /// See [io.framecast.reliability.wire.DataLayout].
    public int flags() {
        return flags;
    }

    /// Null for none.
    public byte @Nullable [] metadata() {
        return metadata;
    }
}
