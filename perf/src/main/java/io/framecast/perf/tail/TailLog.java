package io.framecast.perf.tail;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The events of one process of a stream, written to a file when the stream is over.
///
/// @param atNs by frame number: when the publisher committed it, or a subscriber found it ready, by
///     System.nanoTime, which is one clock for all processes of a machine; 0 for never
/// @param events datagrams seen at a subscriber's tap
record TailLog(long[] atNs, List<Event> events) {
    private static final long MAGIC = 0x6663_7461_696c_0001L;
    private static final long COUNT_MAX = 100_000_000;

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

    void write(final Path file) throws IOException {
        try (DataOutputStream out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file)))) {
            out.writeLong(MAGIC);
            out.writeLong(atNs.length);
            for (final long at : atNs) {
                out.writeLong(at);
            }
            out.writeLong(events.size());
            for (final Event event : events) {
                out.writeByte(event.kind.ordinal());
                out.writeLong(event.sequence);
                out.writeLong(event.frame);
                out.writeLong(event.timeNs);
            }
        }
    }

    /// @throws IOException also when it is no such file, or was cut
    static TailLog read(final Path file) throws IOException {
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
            if (in.readLong() != MAGIC) {
                throw new IOException(file + ": no log of a tail");
            }
            final long[] atNs = new long[count(in, file)];
            for (int i = 0; i < atNs.length; i++) {
                atNs[i] = in.readLong();
            }
            final int count = count(in, file);
            final List<Event> events = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                events.add(new Event(kind(in, file), in.readLong(), in.readLong(), in.readLong()));
            }
            if (in.read() >= 0) {
                throw new IOException(file + ": longer than it says");
            }
            return new TailLog(atNs, events);
        }
    }

    private static int count(final DataInputStream in, final Path file) throws IOException {
        final long count = in.readLong();
        if (count < 0 || count > COUNT_MAX) {
            throw new IOException(file + ": cannot hold " + count);
        }
        return (int) count;
    }

    private static Kind kind(final DataInputStream in, final Path file) throws IOException {
        final int ordinal = in.readByte();
        final Kind[] kinds = Kind.values();
        if (ordinal < 0 || ordinal >= kinds.length) {
            throw new IOException(file + ": no kind " + ordinal);
        }
        return kinds[ordinal];
    }
}
