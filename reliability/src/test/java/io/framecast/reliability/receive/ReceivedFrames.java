package io.framecast.reliability.receive;

/// Frames as a receiver machine gives them out, for tests of their placement.
public final class ReceivedFrames {
    private ReceivedFrames() {}

    /// A frame with slots of its own.
    public static ReceivedFrame whole(final long firstSequence, final long bytes) {
        return bundle(firstSequence, bytes, 0);
    }

    /// A datagram of several frames.
    ///
    /// @param bytes of the frames and their table
    public static ReceivedFrame bundle(final long sequence, final long bytes, final int frames) {
        final ReceivedFrame frame = new ReceivedFrame();
        frame.set(0, sequence, bytes, frames);
        return frame;
    }

    /// One frame of a bundle.
    ///
    /// @param last whether it is the last one in its slot
    public static ReceivedFrame part(final long sequence, final int offset, final int bytes, final boolean last) {
        final ReceivedFrame frame = bundle(sequence, bytes, 2);
        frame.part(0, offset, bytes, last);
        return frame;
    }
}
