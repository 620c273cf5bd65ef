package io.framecast.reliability.session;

/// The pace at which the datagrams of a frame arrive, where frames come with pauses between them. A receiver need not
/// wake for each datagram then: it sleeps until half of the rest has arrived, and takes many at once.
///
/// The pace is that of the datagrams between two looks in mid-frame: the look that finds the last datagram may come
/// late.
final class ArrivalPace {
    // A stream with shorter pauses keeps the receiver busy anyway.
    private static final long PAUSE_NS = 1_000_000;
    // Shorter sleeps cost more than they save; the kernel ends a sleep some 50 µs late.
    private static final long REST_MIN_NS = 100_000;
    private static final long REST_MAX_NS = 1_000_000;
    // Of so few datagrams no pace is computed.
    private static final int DATAGRAMS_MIN = 8;

    // The first sequence behind the frame, and behind the datagrams that arrived.
    private long frameEnd;
    private long next;
    private long lastNs;
    private boolean afterPause;
    private long firstLookNext;
    private long firstLookNs;
    private boolean measured;
    // 0: not known.
    private long nsPerDatagram;

    /// Datagrams of one frame arrived.
    ///
    /// @param end the first sequence behind the last of them
    /// @param endOfFrame the first sequence behind the frame
    void onArrival(final long end, final long endOfFrame, final long nowNs) {
        if (endOfFrame != frameEnd) {
            frameEnd = endOfFrame;
            afterPause = nowNs - lastNs >= PAUSE_NS;
            firstLookNext = end;
            firstLookNs = nowNs;
            measured = false;
        } else if (end < endOfFrame && end - firstLookNext >= DATAGRAMS_MIN) {
            nsPerDatagram = (nowNs - firstLookNs) / (end - firstLookNext);
            measured = true;
        } else if (end >= endOfFrame && !measured && nowNs > firstLookNs) {
            // The look came after the whole frame: the pace is higher than it was taken for.
            nsPerDatagram /= 2;
        }
        next = end;
        lastNs = nowNs;
    }

    /// How long the receiver may sleep although datagrams arrive, in nanoseconds; 0 where each must wake it.
    long restNs() {
        if (!afterPause || next >= frameEnd) {
            return 0;
        }
        final long leftNs = (frameEnd - next) * nsPerDatagram;
        final long restNs = leftNs > 2 * REST_MIN_NS ? leftNs / 2 : leftNs;
        return restNs < REST_MIN_NS ? 0 : Math.min(restNs, REST_MAX_NS);
    }
}
