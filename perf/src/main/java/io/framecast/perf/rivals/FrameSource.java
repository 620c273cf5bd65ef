package io.framecast.perf.rivals;

import io.framecast.perf.harness.FrameContent;
import io.framecast.perf.harness.ProcessCost;
import java.util.concurrent.locks.LockSupport;

/// Says when the frames of one stream are due, until its time is over, and measures the publisher meanwhile.
///
/// At a fixed rate a frame is due at its place in the schedule, however late the frames before it were: a
/// system that stalls pays for every frame that had to wait (no coordinated omission). Without a rate a frame
/// is due when the publisher can take it.
final class FrameSource {
    // A thread that parks comes back some tens of microseconds late: the rest is spun.
    private static final long SPIN_NS = 80_000;
    private static final double NS_PER_SECOND = 1e9;

    private final StreamSpec spec;
    private final double intervalNs;
    private final ProcessCost cost;
    private long startNs;
    private long dueNs;
    private long number = -1;
    private long measuredFrames;
    private boolean last;

    FrameSource(final StreamSpec spec, final ProcessCost cost) {
        this.spec = spec;
        this.cost = cost;
        final double rate = spec.load().framesPerSecond();
        intervalNs = rate == 0 ? 0 : NS_PER_SECOND / rate;
    }

    /// Waits until the next frame is due.
    ///
    /// @return whether there is one
    boolean next() {
        if (last) {
            return false;
        }
        final long nowNs = System.nanoTime();
        if (number < 0) {
            startNs = nowNs;
        }
        number++;
        dueNs = intervalNs == 0 ? nowNs : startNs + (long) (number * intervalNs);
        if (dueNs > nowNs) {
            awaitDue();
        }
        final long ageNs = dueNs - startNs;
        if (ageNs >= spec.load().warmUpNs()) {
            if (measuredFrames == 0) {
                cost.begin();
            }
            measuredFrames++;
        }
        last = ageNs >= spec.load().warmUpNs() + spec.load().measureNs();
        return true;
    }

    private void awaitDue() {
        for (long waitNs = dueNs - System.nanoTime(); waitNs > 0; waitNs = dueNs - System.nanoTime()) {
            if (waitNs > SPIN_NS) {
                LockSupport.parkNanos(waitNs - SPIN_NS);
            } else {
                Thread.onSpinWait();
            }
        }
    }

    long number() {
        return number;
    }

    /// Frames that were due after the warm-up.
    long measuredFrames() {
        return measuredFrames;
    }

    /// The front of the frame that is due.
    FrameContent.Stamp stamp() {
        return new FrameContent.Stamp(number, dueNs, last ? FrameContent.Stamp.LAST : 0);
    }

    boolean isLast() {
        return last;
    }

    /// Once the last frame was taken by everybody.
    ///
    /// @param traffic what the publisher sent since the warm-up ended
    SourceReport report(final String transport, final Traffic traffic) {
        final ProcessCost.Spent spent = cost.end();
        return new SourceReport(
                transport,
                measuredFrames,
                measuredFrames * spec.load().frameBytes(),
                spent.cpuNs(),
                spent.compileNs(),
                spent.interfaceBytes(),
                traffic.payloadBytes(),
                traffic.wireBytes(),
                traffic.datagrams());
    }

    /// The traffic of a publisher.
    ///
    /// @param payloadBytes of datagrams or connections
    /// @param wireBytes the same with the headers of IP and what is above
    /// @param datagrams of the whole stream; 0 where they are not counted
    record Traffic(long payloadBytes, long wireBytes, long datagrams) {
        static final Traffic NONE = new Traffic(0, 0, 0);

        private static final int IP_AND_UDP_BYTES = 28;
        // With the time stamps that Linux adds to every segment.
        private static final int IP_AND_TCP_BYTES = 52;

        static Traffic ofDatagrams(final long datagrams, final long bytes) {
            return new Traffic(bytes, bytes + datagrams * IP_AND_UDP_BYTES, 0);
        }

        /// Of connections whose segments are full; what TCP sends again is not among it.
        static Traffic ofConnections(final long bytes, final int mtuBytes) {
            final long segments = Math.ceilDiv(bytes, mtuBytes - IP_AND_TCP_BYTES);
            return new Traffic(bytes, bytes + segments * IP_AND_TCP_BYTES, 0);
        }

        /// @param all of the whole stream
        Traffic ofStream(final long all) {
            return new Traffic(payloadBytes, wireBytes, all);
        }

        Traffic since(final Traffic before) {
            return new Traffic(payloadBytes - before.payloadBytes, wireBytes - before.wireBytes, datagrams);
        }
    }
}
