package io.framecast.perf.harness;

import io.framecast.api.provider.PseudoFiles;
import io.framecast.samples.network.Namespaces;
import java.io.IOException;
import java.nio.file.Path;

/// Counts the bytes on the link of this process's network namespace between two moments, and how busy the
/// machine's processors were. Without a namespace of its own, nothing is known of the link. One thread.
public final class LinkMeter {
    private static final Path DEVICES = Path.of("/proc/net/dev");
    // The first line: times of user, nice, system, idle, iowait and so on, of all processors.
    private static final Path PROCESSORS = Path.of("/proc/stat");
    private static final int IDLE = 4;
    private static final int WAITING = 5;
    private static final int STOLEN = 8;

    private final boolean measures;
    private long beginNs;
    private long received;
    private long sent;
    private long busy;
    private long all;

    /// The bytes of a link.
    ///
    /// @param seconds between the two moments
    /// @param receivedBytes at the interface, with all headers; negative where that is not known
    /// @param sentBytes likewise
    /// @param busyShare of the processors' time in which they worked; negative where that is not known
    public record Carried(double seconds, long receivedBytes, long sentBytes, double busyShare) {
        /// Nothing was measured.
        public static final Carried NOTHING = new Carried(0, -1, -1, -1);
    }

    /// The counters of an interface of this process's network namespace; negative where they are not known.
    record Bytes(long received, long sent) {
        static Bytes of(final String networkInterface) throws IOException {
            for (final String line : PseudoFiles.read(DEVICES).lines().toList()) {
                final int colon = line.indexOf(':');
                if (colon > 0 && line.substring(0, colon).strip().equals(networkInterface)) {
                    // The first is bytes received, the ninth bytes sent.
                    final String[] fields = line.substring(colon + 1).strip().split("\\s+", -1);
                    return new Bytes(Long.parseLong(fields[0]), Long.parseLong(fields[8]));
                }
            }
            return new Bytes(-1, -1);
        }
    }

    /// @param measures whether this process has a link of its own
    public LinkMeter(final boolean measures) {
        this.measures = measures;
    }

    /// Takes this as the first moment, instead of an earlier one.
    public void begin() {
        if (measures) {
            read();
            beginNs = System.nanoTime();
        }
    }

    /// The bytes since [#begin].
    public Carried end() {
        if (!measures) {
            return Carried.NOTHING;
        }
        final long nowNs = System.nanoTime();
        final long receivedBefore = received;
        final long sentBefore = sent;
        final long busyBefore = busy;
        final long allBefore = all;
        read();
        return new Carried(
                (nowNs - beginNs) / 1e9,
                received - receivedBefore,
                sent - sentBefore,
                (double) (busy - busyBefore) / Math.max(1, all - allBefore));
    }

    private void read() {
        try {
            final Bytes bytes = Bytes.of(Namespaces.DEVICE);
            received = bytes.received;
            sent = bytes.sent;
            final String[] times =
                    PseudoFiles.read(PROCESSORS).lines().findFirst().orElse("").split("\\s+", -1);
            all = 0;
            for (int i = 1; i <= STOLEN; i++) {
                all += Long.parseLong(times[i]);
            }
            busy = all - Long.parseLong(times[IDLE]) - Long.parseLong(times[WAITING]);
        } catch (final IOException e) {
            throw new IllegalStateException("cannot read what the link carried: " + e.getMessage(), e);
        }
    }
}
