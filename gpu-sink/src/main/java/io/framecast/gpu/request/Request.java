package io.framecast.gpu.request;

import io.framecast.gpu.SharedWords;
import java.lang.foreign.MemorySegment;

/// A request as the host read it, once: later writes of the kernel change nothing. Mutable, so that
/// reading allocates nothing.
final class Request {
    int ticket;
    long address;
    long length;
    long timestampNs;
    int channel;
    int flags;
    int tag;

    /// @param at where it lies; its sequence has been seen
    void read(final MemorySegment queue, final long at, final int ofTicket) {
        ticket = ofTicket;
        address = (long) SharedWords.LONG.get(queue, at + RequestLayout.REQUEST_ADDRESS);
        length = (long) SharedWords.LONG.get(queue, at + RequestLayout.REQUEST_LENGTH);
        timestampNs = (long) SharedWords.LONG.get(queue, at + RequestLayout.REQUEST_TIMESTAMP);
        channel = (int) SharedWords.INT.get(queue, at + RequestLayout.REQUEST_CHANNEL);
        flags = (int) SharedWords.INT.get(queue, at + RequestLayout.REQUEST_FLAGS);
        tag = (int) SharedWords.INT.get(queue, at + RequestLayout.REQUEST_TAG);
    }

    void copy(final Request other) {
        ticket = other.ticket;
        address = other.address;
        length = other.length;
        timestampNs = other.timestampNs;
        channel = other.channel;
        flags = other.flags;
        tag = other.tag;
    }
}
