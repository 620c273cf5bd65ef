package io.framecast.reliability.receive;

import io.framecast.reliability.window.StreamFormat;
import org.jspecify.annotations.Nullable;

/// One whole frame, or a bundle of them, as [ReceiverMachine#pollFrame] found it. Reused; read it before the next
/// poll.
public final class ReceivedFrame {
    private long frameId;
    private long firstSequence;
    private long bytes;
    private int bundleFrames;
    private int slotOffset;
    private boolean endsSlots = true;
    private long timestampNs;
    private int flags;
    private byte @Nullable [] metadata;
    private @Nullable StreamFormat format;

    void set(final long id, final long sequence, final long lengthBytes, final int frames) {
        frameId = id;
        firstSequence = sequence;
        bytes = lengthBytes;
        bundleFrames = frames;
        slotOffset = 0;
        endsSlots = true;
    }

    // One frame of the bundle.
    void part(final long id, final int offset, final int lengthBytes, final boolean last) {
        frameId = id;
        slotOffset = offset;
        bytes = lengthBytes;
        bundleFrames = 0;
        endsSlots = last;
    }

    void attributes(final long sourceTimestampNs, final int frameFlags, final byte @Nullable [] frameMetadata) {
        timestampNs = sourceTimestampNs;
        flags = frameFlags;
        metadata = frameMetadata;
    }

    void format(final @Nullable StreamFormat frameFormat) {
        format = frameFormat;
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

    /// Number of frames in this datagram, to be separated by a [BundleTable]; 0 for a frame outside a bundle.
    public int bundleFrames() {
        return bundleFrames;
    }

    /// Offset of the frame in its first slot; not 0 in bundles only.
    public int slotOffset() {
        return slotOffset;
    }

    /// Whether no other frame behind this one lies in its slots.
    public boolean endsSlots() {
        return endsSlots;
    }

    public long timestampNs() {
        return timestampNs;
    }

    /// See [io.framecast.reliability.wire.DataLayout].
    public int flags() {
        return flags;
    }

    /// Null for none.
    public @Nullable StreamFormat format() {
        return format;
    }

    /// Null for none.
    public byte @Nullable [] metadata() {
        return metadata;
    }
}
