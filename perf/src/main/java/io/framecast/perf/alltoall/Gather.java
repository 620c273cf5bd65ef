package io.framecast.perf.alltoall;

import java.io.IOException;

/// A way of bringing the frames of some processes to all of them. Used by one thread.
interface Gather extends AutoCloseable {
    /// Sends so many frames, where this process is a source, and returns when it has as many of each other source.
    ///
    /// @throws io.framecast.perf.harness.FramesDifferException when one is not what was sent, or out of order
    void exchange(int frames) throws IOException;

    /// Every process has all frames.
    void end() throws IOException;

    @Override
    void close() throws IOException;
}
