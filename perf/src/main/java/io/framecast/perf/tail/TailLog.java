package io.framecast.perf.tail;

import java.util.List;
import java.util.stream.LongStream;

/// The events of one process of a stream.
///
/// @param atNs by frame number: when the publisher committed it, or a subscriber found it ready, by
///     System.nanoTime, which is one clock for all processes of a machine; 0 for never
/// @param events datagrams seen at a subscriber's tap
record TailLog(List<Long> atNs, List<Event> events) {
    enum Kind {
        /// Data that the network lost on its last step.
        LOST,
        /// A repair on its way to a receiver.
        REPAIR,
        /// A repair that was lost like that.
        LOST_REPAIR
    }

    /// @param sequence of the datagram
    /// @param frame its number
    /// @param timeNs when it came in, by the kernel's clock of the day
    record Event(Kind kind, long sequence, long frame, long timeNs) {}

    TailLog(final long[] atNs, final List<Event> events) {
        this(LongStream.of(atNs).boxed().toList(), events);
    }
}
