package io.framecast.samples.input;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// Where a publisher's frames come from. One thread reads; [#cancel] may come from another.
public interface FrameInput extends AutoCloseable {
    /// Length of the next frame in bytes as far as it is known: exact for inputs of known size, the full
    /// frame length for pipes; 0 when the input has ended.
    long nextBytes() throws IOException;

    /// Fills `target` with the next frame, waiting for it where the input is a pipe.
    ///
    /// @param target [#nextBytes] long
    /// @return bytes written: less than `target` holds only for the last frame, 0 when the input has ended
    /// @throws IOException with one line that names the input
    /// @throws io.framecast.api.error.ConfigException when the input turns out to be unusable
    long read(MemorySegment target) throws IOException;

    /// Whether more is known to follow: the rest of a file. An input without an end of its own (a camera, a pipe,
    /// the test pattern) ends well wherever it is stopped.
    boolean isUnfinished();

    /// Ends a read that waits, and the input with it.
    void cancel();

    @Override
    void close();
}
