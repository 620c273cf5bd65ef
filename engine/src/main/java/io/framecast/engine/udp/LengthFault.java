package io.framecast.engine.udp;

/// The lengths that the system refuses to send (EMSGSIZE), because an operator may lower an interface's MTU during
/// a stream, and raise it again. While the system refuses a length, the lane sends datagrams of that length and
/// longer one by one. It thus learns which of them pass. One thread.
final class LengthFault {
    private static final int NONE = Integer.MAX_VALUE;

    private int refusedBytes = NONE;
    private boolean asRun;
    private long sinceNs;

    /// Whether the lane must send a datagram of this length alone.
    boolean concerns(final int datagramBytes) {
        return datagramBytes >= refusedBytes;
    }

    /// A datagram of this length was refused, or a run of them: for the MTU, or because it was a run.
    void onRefused(final int datagramBytes, final boolean isRun, final long nowNs) {
        if (refusedBytes == NONE) {
            sinceNs = nowNs;
        }
        refusedBytes = Math.min(refusedBytes, datagramBytes);
        asRun = isRun;
    }

    long sinceNs() {
        return sinceNs;
    }

    /// A datagram of this length passed alone.
    ///
    /// @return whether the run was refused for being a run, not for its length
    boolean onPassed(final int datagramBytes) {
        if (!concerns(datagramBytes)) {
            return false;
        }
        refusedBytes = NONE;
        return asRun;
    }
}
