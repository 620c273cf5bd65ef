package io.framecast.perf.chaos;

/// The settings of a run.
///
/// @param transport `udp`, or `verbs`, whose hosts are RDMA devices of this machine
/// @param seconds how long faults are done
/// @param loss share of datagrams that each host drops at its output, and again at its input
/// @param aliveTimeoutMs of the stream
/// @param marginMs how much later than alive-timeout, or the end of a fault, what must come of it may come
/// @param rate frames a second
record ChaosPlan(
        String transport,
        long seed,
        int seconds,
        int subscribers,
        int coRoots,
        double loss,
        long aliveTimeoutMs,
        long marginMs,
        double rate,
        int frameBytes,
        InjectedBug bug) {
    /// Never killed, stopped for long or cut off for long, and never a co-root: whose memory must stay as it
    /// was.
    static final int WITNESS = 0;

    static final String UDP = "udp";
    static final String VERBS = "verbs";
    static final long MARGIN_DEFAULT_MS = 1_500;
    static final int WINDOW_BYTES = 8 << 20;
    private static final String GROUP = "239.78.30.39:24326";

    String publisherChannel(final String device) {
        return channel(device) + "|window=" + WINDOW_BYTES + "|co-roots=" + coRoots;
    }

    String subscriberChannel(final int index, final String device) {
        return channel(device) + "|device=host" + (index == WITNESS ? "|serve=no" : "");
    }

    private String channel(final String device) {
        return "framecast:" + transport + "?group=" + GROUP + "|channel=chaos|interface=" + device + "|frame-max="
                + frameBytes + "|alive-timeout=" + aliveTimeoutMs;
    }

    /// The host that garbage comes from; no process of the stream knows it.
    int attackerHost() {
        return subscribers + 1;
    }

    int hosts() {
        return subscribers + (hasAttacker() ? 2 : 1);
    }

    /// Whether an attacker sends garbage: only at sockets.
    boolean hasAttacker() {
        return transport.equals(UDP);
    }

    /// Whether a fault can be done in this run.
    boolean isDone(final FaultKind kind) {
        return (hasAttacker() || !kind.isOfEverybody()) && (coRoots > 0 || !kind.isOfCoRoot());
    }

    /// How long something may take that is judged only by whether it comes: longer on a machine whose margin
    /// is.
    long patienceMs(final long usualMs) {
        return usualMs * Math.max(1, marginMs / MARGIN_DEFAULT_MS);
    }
}
