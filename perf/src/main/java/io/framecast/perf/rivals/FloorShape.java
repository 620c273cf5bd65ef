package io.framecast.perf.rivals;

/// How the floor cuts frames. A datagram is eight bytes of number, then payload; a frame's datagrams lie one behind the
/// other in memory and are handed to the kernel in messages of as many as it takes.
///
/// @param frameBytes payload of a frame
/// @param payloadBytes of a full datagram
/// @param segments most datagrams in one message
/// @param burstFrames frames sent by one call, more than one where they are small and as many are taken as come
record FloorShape(int frameBytes, int payloadBytes, int segments, int burstFrames) {
    static final int HEADER_BYTES = Long.BYTES;

    /// The number of a datagram that says how many frames there were.
    static final long END = -1;

    static final int MESSAGE_BYTES_MAX = 65_507;

    private static final int IP_AND_UDP_BYTES = 28;
    private static final int SEGMENTS_MAX = 64;
    private static final long WINDOW_BURSTS = 2;
    private static final long WINDOW_BYTES = 4 << 20;
    private static final int BURST_BYTES = 1 << 15;

    static FloorShape of(final StreamSpec spec) {
        final int datagramMax = Math.min(spec.link().mtuBytes() - IP_AND_UDP_BYTES, MESSAGE_BYTES_MAX);
        final int payload = Math.min(datagramMax - HEADER_BYTES, spec.load().frameBytes());
        final int datagram = payload + HEADER_BYTES;
        final int segments = spec.link().batching() ? Math.min(SEGMENTS_MAX, MESSAGE_BYTES_MAX / datagram) : 1;
        final boolean bursts = spec.load().framesPerSecond() == 0 && spec.load().frameBytes() <= payload;
        final int burst = bursts ? Math.clamp(BURST_BYTES / datagram, 1, SEGMENTS_MAX) : 1;
        return new FloorShape(spec.load().frameBytes(), payload, segments, burst);
    }

    int datagramBytes() {
        return payloadBytes + HEADER_BYTES;
    }

    int frameDatagrams() {
        return (frameBytes + payloadBytes - 1) / payloadBytes;
    }

    int burstDatagrams() {
        return burstFrames * frameDatagrams();
    }

    int burstMessages() {
        return (burstDatagrams() + segments - 1) / segments;
    }

    /// With the numbers.
    long burstWireBytes() {
        return (long) burstFrames * frameBytes + (long) burstDatagrams() * HEADER_BYTES;
    }

    /// Datagrams that may be on their way: no more than a receive buffer holds for sure, and no more than keeps both
    /// ends busy, for what lies in a queue has left the processor's caches.
    ///
    /// @param chargedBytes what the kernel charges one datagram with
    long roomDatagrams(final long bufferBytes, final long chargedBytes) {
        final long wanted = Math.max(WINDOW_BURSTS * burstDatagrams(), WINDOW_BYTES / datagramBytes());
        return Math.max(2L * segments, Math.min(wanted, bufferBytes / 10 * 9 / chargedBytes));
    }

    /// Datagrams after which a receiver gives credit: once per burst, as long as the other half of the room suffices.
    static long creditDatagrams(final long burstDatagrams, final long roomDatagrams) {
        return Math.clamp(roomDatagrams / 2, 1, burstDatagrams);
    }
}
