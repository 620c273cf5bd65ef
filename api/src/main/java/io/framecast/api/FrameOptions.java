package io.framecast.api;

/// The data that travels with a frame beside its payload. Immutable and reusable.
///
/// @param keyframe whether a subscriber may begin here
/// @param sourceTimestampNs when the frame was taken, in nanoseconds since the epoch; [#NOW] lets the engine stamp it
/// @param metadata 0 … [#METADATA_BYTES_MAX] bytes for the subscribers' hosts; see [Codec]. Not copied: do not change
///     it afterwards
public record FrameOptions(boolean keyframe, long sourceTimestampNs, byte[] metadata) {
    public static final int METADATA_BYTES_MAX = 1024;
    public static final long NOW = Long.MIN_VALUE;

    private static final byte[] NO_METADATA = new byte[0];

    public static final FrameOptions DEFAULT = new FrameOptions(false, NOW, NO_METADATA);
    public static final FrameOptions KEYFRAME = new FrameOptions(true, NOW, NO_METADATA);

    public FrameOptions {
        if (metadata.length > METADATA_BYTES_MAX) {
            throw new IllegalArgumentException(
                    "metadata: expected at most " + METADATA_BYTES_MAX + " bytes, got " + metadata.length);
        }
    }

    public FrameOptions withMetadata(final byte[] value) {
        return new FrameOptions(keyframe, sourceTimestampNs, value);
    }

    public FrameOptions withKeyframe(final boolean value) {
        return new FrameOptions(value, sourceTimestampNs, metadata);
    }

    public FrameOptions withSourceTimestampNs(final long value) {
        return new FrameOptions(keyframe, value, metadata);
    }
}
