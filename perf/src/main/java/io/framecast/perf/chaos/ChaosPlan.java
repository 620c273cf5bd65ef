package io.framecast.perf.chaos;

/// The settings of a run.
///
/// @param transport `udp`, or `verbs`, whose hosts are RDMA devices of this machine
/// @param perHost subscriber processes on each host; several are a host group
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
        int perHost,
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
        return channel(device) + "|device=host" + (index == WITNESS ? "|serve=no" : "")
                + (areGroups() ? "|host-group=auto" : "");
    }

    private String channel(final String device) {
        return "framecast:" + transport + "?group=" + GROUP + "|channel=chaos|interface=" + device + "|frame-max="
                + frameBytes + "|alive-timeout=" + aliveTimeoutMs;
    }

    /// Whether the subscribers of a host are a group.
    boolean areGroups() {
        return perHost > 1;
    }

    /// The host of a subscriber; hosts have several each, the last one perhaps fewer.
    int hostOf(final int index) {
        return index / perHost + 1;
    }

    /// The host that garbage comes from; no process of the stream knows it.
    int attackerHost() {
        return hostOf(subscribers - 1) + 1;
    }

    int hosts() {
        return attackerHost() + (hasAttacker() ? 1 : 0);
    }

    /// Whether an attacker sends garbage: only at sockets, and only where each host has one process.
    boolean hasAttacker() {
        return transport.equals(UDP) && !areGroups();
    }

    /// Whether a fault can be done in this run.
    boolean isDone(final FaultKind kind) {
        return kind.isOfGroup() == areGroups()
                && (hasAttacker() || !kind.isOfEverybody())
                && (coRoots > 0 || !kind.isOfCoRoot());
    }

    /// How long something may take that is judged only by whether it comes: longer on a machine whose margin
    /// is.
    long patienceMs(final long usualMs) {
        return usualMs * Math.max(1, marginMs / MARGIN_DEFAULT_MS);
    }
}
