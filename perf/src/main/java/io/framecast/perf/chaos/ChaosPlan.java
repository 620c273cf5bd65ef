package io.framecast.perf.chaos;

/// What a run is to be.
///
/// @param seconds how long faults are done
/// @param loss share of datagrams that each host drops at its output, and again at its input
/// @param aliveTimeoutMs of the stream
/// @param marginMs how much later than alive-timeout, or the end of a fault, what must come of it may come
/// @param rate frames a second
record ChaosPlan(
        long seed,
        int seconds,
        int subscribers,
        int coRoots,
        double loss,
        long aliveTimeoutMs,
        long marginMs,
        double rate,
        int frameBytes,
        Plant plant) {
    /// Never killed, stopped for long or cut off for long, and never a co-root: whose memory must stay as it was.
    static final int WITNESS = 0;

    static final int WINDOW_BYTES = 8 << 20;
    private static final String GROUP = "239.78.30.39:24326";

    String publisherChannel() {
        return channel() + "|window=" + WINDOW_BYTES + "|co-roots=" + coRoots;
    }

    String subscriberChannel(final int index) {
        return channel() + "|device=host" + (index == WITNESS ? "|serve=no" : "");
    }

    private String channel() {
        return "framecast:udp?group=" + GROUP + "|channel=chaos|interface=" + ChaosNetwork.DEVICE + "|frame-max="
                + frameBytes + "|alive-timeout=" + aliveTimeoutMs;
    }

    /// The host that nobody on the stream knows, where garbage comes from.
    int strangerHost() {
        return subscribers + 1;
    }

    int hosts() {
        return subscribers + 2;
    }
}
