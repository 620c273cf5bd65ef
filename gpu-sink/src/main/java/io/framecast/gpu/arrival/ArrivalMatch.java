package io.framecast.gpu.arrival;

/// Which entries a kernel takes: of a channel, source and tag, or any ([ArrivalLayout#ANY_CHANNEL] and its
/// like).
///
/// @param kinds one bit for each kind that is taken
public record ArrivalMatch(int channel, int source, int tag, int kinds) {
    /// Everything.
    public static final ArrivalMatch ANY =
            new ArrivalMatch(ArrivalLayout.ANY_CHANNEL, ArrivalLayout.ANY_SOURCE, ArrivalLayout.ANY_TAG, -1);

    /// Frames only.
    public static ArrivalMatch framesOf(final int channel, final int source, final int tag) {
        return new ArrivalMatch(channel, source, tag, 1 << ArrivalLayout.KIND_FRAME);
    }

    boolean takes(final long word0, final long word1) {
        return (kinds >>> ArrivalLayout.kind(word0) & 1) != 0
                && (channel == ArrivalLayout.ANY_CHANNEL || channel == ArrivalLayout.channel(word1))
                && (source == ArrivalLayout.ANY_SOURCE || source == ArrivalLayout.source(word1))
                && (tag == ArrivalLayout.ANY_TAG || tag == ArrivalLayout.tag(word1));
    }
}
