package io.framecast.reliability.session;

import java.util.function.LongSupplier;

/// Keeps the queue in the kernel short before a slow link: repairs and heartbeats stand behind it. A source whose
/// queue stands learns the link's rate from how fast it drains, and sends new data only while the queue holds less
/// than [#TARGET_NS] of that (after Nichols and Jacobson 2012, "Controlling Queue Delay": the bound is on the time in
/// the queue, not on its bytes). Where the queue never stands there is no limit.
///
/// No clock, no allocation: the caller gives the time. One thread.
final class SendQueue {
    static final long TARGET_NS = 4_000_000;
    /// The queue may always have this much: two of the kernel's longest packets.
    static final long LEAST_BYTES = 128 << 10;

    // Drain is measured over spans no shorter than this.
    private static final long SPAN_NS = 5_000_000;
    // A look costs a system call. Where there is a limit, and where there is none.
    private static final long LOOK_BYTES = LEAST_BYTES / 2;
    private static final long RARE_LOOK_BYTES = 2 * LEAST_BYTES;
    // Between two looks at a queue that stands, before the rate is known and then. Longer: there was nothing to send.
    private static final long FIRST_GAP_NS = 100_000_000;
    private static final long GAP_NS = 5_000_000;
    private static final long PAUSE_MIN_NS = 500_000;
    private static final long PAUSE_MAX_NS = 2_000_000;
    private static final long NS_PER_SECOND = 1_000_000_000;
    private static final int SMOOTHING = 8;
    private static final int PROBING = 4;

    private final LongSupplier queuedBytes;
    // Bytes per second that leave a standing queue; 0 before one was seen.
    private long rate;
    // At the last look.
    private long queued;
    // Since then.
    private long sent;
    private boolean standing;
    private long lookedNs;
    // Of the span that is measured.
    private long sinceNs;
    private long drained;
    private boolean held;
    private long nextNs = Long.MIN_VALUE;

    /// @param queuedBytes bytes that wait in the kernel now
    SendQueue(final LongSupplier queuedBytes) {
        this.queuedBytes = queuedBytes;
    }

    /// Bytes of new data that may be sent now; 0 before [#nextNs].
    long room(final long nowNs) {
        if (nowNs < nextNs) {
            return 0;
        }
        if (rate == 0 ? sent >= RARE_LOOK_BYTES : sent >= LOOK_BYTES || nowNs - lookedNs >= PAUSE_MIN_NS) {
            look(queuedBytes.getAsLong(), nowNs);
        }
        if (rate == 0) {
            return Long.MAX_VALUE;
        }
        final long room = limit() - queued - sent;
        // Batches, not single datagrams.
        held = room < limit() / 4;
        if (held) {
            final long drainNs = (queued + sent - limit() / 2) * NS_PER_SECOND / rate;
            nextNs = nowNs + Math.clamp(drainNs, PAUSE_MIN_NS, PAUSE_MAX_NS);
            return 0;
        }
        return room;
    }

    /// These bytes were handed to the kernel.
    void onSent(final long bytes) {
        sent += bytes;
    }

    /// The time before which no new data is sent; in the past where it may be.
    long nextNs() {
        return nextNs;
    }

    private long limit() {
        return Math.max(LEAST_BYTES, rate * (TARGET_NS / 1_000) / (NS_PER_SECOND / 1_000));
    }

    private void look(final long found, final long nowNs) {
        final boolean stands = found >= (rate == 0 ? LEAST_BYTES : limit() / 4);
        if (stands && standing && nowNs - lookedNs <= (rate == 0 ? FIRST_GAP_NS : GAP_NS)) {
            drained += sent + queued - found;
            if (nowNs - sinceNs >= SPAN_NS) {
                measure(drained * NS_PER_SECOND / (nowNs - sinceNs));
                sinceNs = nowNs;
                drained = 0;
            }
        } else {
            if (!stands && held) {
                // The link may have been idle while data waited.
                rate += 1 + rate / PROBING;
            }
            sinceNs = nowNs;
            drained = 0;
        }
        standing = stands;
        lookedNs = nowNs;
        queued = found;
        sent = 0;
    }

    // The kernel counts more than bytes of datagrams: while a queue grows it may seem that nothing leaves.
    private void measure(final long found) {
        if (found > 0) {
            rate = found > rate ? found : rate - (rate - found) / SMOOTHING;
        }
    }
}
