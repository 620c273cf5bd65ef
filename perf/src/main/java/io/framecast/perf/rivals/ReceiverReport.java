package io.framecast.perf.rivals;

import io.framecast.perf.harness.ProcessUse;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/// The measurements of a receiver, of the frames that were due after the warm-up.
///
/// @param frames that arrived whole
/// @param bytes their payload
/// @param lostFrames frames of the whole stream, warm-up included, that never arrived whole
/// @param firstNs when the first of them was due at the publisher, by this machine's monotonic clock
/// @param lastNs when the last was in place
/// @param cpuNs of the whole process between the two, every thread of it
/// @param compileNs how long its compilers worked meanwhile
/// @param latencies a histogram of the times from due to in place, in nanoseconds, as [#encode] writes it
/// @param placedNs when the first was in place; 0 where none was
/// @param windows whole ones, from the first frame in place on; none where they were not asked for
/// @param footprint of the process on its host
public record ReceiverReport(
        long frames,
        long bytes,
        long lostFrames,
        long firstNs,
        long lastNs,
        long cpuNs,
        long compileNs,
        String latencies,
        long placedNs,
        List<Window> windows,
        Footprint footprint) {
    /// A piece of the stream.
    ///
    /// @param bytes payload of the frames that came to be in place
    /// @param p99Ns from due to in place; 0 without frames
    /// @param compileNs how long the process's compilers worked
    public record Window(long bytes, long p99Ns, long compileNs) {}

    /// The CPU and memory that the process took of its host; nothing is known where readers do not sum.
    ///
    /// @param placement how frames came to where they are read: `host`, `copied`, or a device's placement
    /// @param datagrams that it read from its sockets, of all lanes, in the whole stream
    /// @param memoryBytes its resident memory; of what it shares, its share (PSS)
    public record Footprint(String placement, long datagrams, long memoryBytes) {
        static final Footprint NONE = new Footprint("", 0, 0);

        private static final Path MEMORY = Path.of("/proc/self/smaps_rollup");

        static Footprint of(final String placement, final long datagrams) {
            try {
                return new Footprint(placement, datagrams, ProcessUse.bytes(MEMORY, "Pss:"));
            } catch (final IOException e) {
                return new Footprint(placement, datagrams, 0);
            }
        }
    }

    /// The same of a process that read so many datagrams in the whole stream.
    ReceiverReport read(final long datagrams) {
        return with(new Footprint(footprint.placement, datagrams, footprint.memoryBytes));
    }

    ReceiverReport with(final Footprint value) {
        return new ReceiverReport(
                frames, bytes, lostFrames, firstNs, lastNs, cpuNs, compileNs, latencies, placedNs, windows, value);
    }

    /// In units of 10^6 bytes per second; 0 when nothing arrived.
    public double goodputMBps() {
        return lastNs > firstNs ? bytes * 1e3 / (lastNs - firstNs) : 0;
    }

    /// 0 when nothing arrived.
    public double framesPerSecond() {
        return lastNs > firstNs ? frames * 1e9 / (lastNs - firstNs) : 0;
    }

    public static String encode(final Histogram latencies) {
        final ByteBuffer encoded = ByteBuffer.allocate(latencies.getNeededByteBufferCapacity());
        final int length = latencies.encodeIntoCompressedByteBuffer(encoded);
        return Base64.getEncoder().encodeToString(Arrays.copyOf(encoded.array(), length));
    }

    public Histogram histogram() {
        try {
            return Histogram.decodeFromCompressedByteBuffer(
                    ByteBuffer.wrap(Base64.getDecoder().decode(latencies)), 0);
        } catch (final DataFormatException e) {
            throw new IllegalArgumentException("expected a histogram", e);
        }
    }
}
