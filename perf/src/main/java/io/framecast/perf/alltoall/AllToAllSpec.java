package io.framecast.perf.alltoall;

import io.framecast.perf.streaming.StreamingPlan;

/// One measurement, as one of its processes sees it.
///
/// @param scheme [#MULTICAST] or [#RING]
/// @param processes all of them
/// @param sources of these, the first ones, publish
/// @param index of this process
/// @param bytesPerSecond that each source sends at most; 0 for as much as is taken
/// @param rounds of one frame from each source, one round after the other
/// @param frames of each source that go back to back then
/// @param port first of the [#PORTS] that the measurement may use
record AllToAllSpec(
        StreamingPlan plan,
        String scheme,
        int processes,
        int sources,
        int index,
        long bytesPerSecond,
        int rounds,
        int frames,
        int port) {
    static final String MULTICAST = "multicast";
    static final String RING = "ring";
    static final int PORTS = 40;
    /// The process that says when a round begins.
    static final int COORDINATOR = 0;

    private static final int RING_PORT = 2;
    private static final int WINDOW_FRAMES = 4;
    private static final long WINDOW_BYTES_MIN = 2 << 20;

    AllToAllSpec of(final int other) {
        return new AllToAllSpec(plan, scheme, processes, sources, other, bytesPerSecond, rounds, frames, port);
    }

    boolean isSource() {
        return index < sources;
    }

    String address(final int process) {
        return plan.links().address(process - 1);
    }

    /// Where the coordinator listens.
    int startPort() {
        return port + 1;
    }

    /// Where a process of a ring listens for the one before it.
    int ringPort(final int process) {
        return port + RING_PORT + process;
    }

    /// The channel on which a source publishes.
    ///
    /// @param inDevice as options of a channel
    String channel(final int source, final String inDevice) {
        final long window = Math.max(WINDOW_BYTES_MIN, (long) WINDOW_FRAMES * plan.frameBytes());
        final int mtuBytes = plan.links().mtuBytes();
        return "framecast:udp?group=224.20.31." + (10 + source) + ":" + port + "|channel=process" + source
                + "|interface=" + address(index) + (mtuBytes == 0 ? "" : "|mtu=" + mtuBytes) + "|frame-max="
                + plan.frameBytes() + "|window=" + window
                + (bytesPerSecond > 0 && source == index ? "|rate=" + bytesPerSecond : "") + inDevice;
    }
}
