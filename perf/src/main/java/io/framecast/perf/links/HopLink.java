package io.framecast.perf.links;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// One hop, from a process to the one behind it: one end writes what the other reads, in parts of equal lengths.
///
/// Threading: one thread, but for [#interrupt].
public interface HopLink extends AutoCloseable {
    /// Parts that are under way at most.
    int PARTS_UNDER_WAY = 2;

    /// Names memory whose parts will be written.
    default void use(final MemorySegment memory) {
        // Most need not know.
    }

    /// Fills a part.
    ///
    /// @throws IOException where the other end is gone, or after [#interrupt]
    void read(MemorySegment part) throws IOException;

    /// Returns as soon as the part written before this one may change.
    ///
    /// @throws IOException where the other end is gone, or after [#interrupt]
    void write(MemorySegment part) throws IOException;

    /// Returns when all that was written may change.
    default void flush() throws IOException {
        // Those that copy have nothing under way.
    }

    /// Makes reads and writes fail. Any thread.
    void interrupt();

    @Override
    void close() throws IOException;
}
