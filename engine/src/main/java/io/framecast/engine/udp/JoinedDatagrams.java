package io.framecast.engine.udp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Joined datagrams that did not fit the posted slots as they came. They lie contiguous in plain memory, and the
/// lane hands them out one by one. One thread.
final class JoinedDatagrams {
    /// The longest message that the kernel joins.
    static final int BYTES_MAX = 65_535;

    private final MemorySegment memory;
    private int position;
    private int end;
    private int datagramBytes;

    JoinedDatagrams(final Arena arena) {
        memory = arena.allocate(BYTES_MAX, 64);
    }

    MemorySegment memory() {
        return memory;
    }

    /// The memory holds `bytes` bytes of datagrams of one length, but for the last.
    void fill(final int bytes, final int eachBytes) {
        position = 0;
        end = bytes;
        datagramBytes = eachBytes;
    }

    boolean isEmpty() {
        return position == end;
    }

    /// Where the next datagram lies.
    int position() {
        return position;
    }

    int nextBytes() {
        return Math.min(datagramBytes, end - position);
    }

    void skip() {
        position += nextBytes();
    }
}
