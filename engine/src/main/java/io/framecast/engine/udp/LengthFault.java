package io.framecast.engine.udp;

/// The lengths that the system refuses to send (EMSGSIZE): an operator may lower an interface's MTU in
/// mid-stream, and raise it again. While the system refuses a length, datagrams of that length and longer go
/// alone, so that the lane learns which of them pass. One thread.
final class LengthFault {
    private static final int NONE = Integer.MAX_VALUE;

    private int refusedBytes = NONE;
    private boolean asRun;
    private long sinceNs;

    /// Whether a datagram of this length must be tried alone.
    boolean concerns(final int datagramBytes) {
        return datagramBytes >= refusedBytes;
    }

    /// A run of datagrams of this length was refused: for the MTU, or because it was a run.
    void onRunRefused(final int datagramBytes, final long nowNs) {
        note(datagramBytes, nowNs);
        asRun = true;
    }

    /// A datagram of this length was refused.
    void onRefused(final int datagramBytes, final long nowNs) {
        note(datagramBytes, nowNs);
        asRun = false;
    }

    private void note(final int datagramBytes, final long nowNs) {
        if (refusedBytes == NONE) {
            sinceNs = nowNs;
        }
        refusedBytes = Math.min(refusedBytes, datagramBytes);
    }

    long sinceNs() {
        return sinceNs;
    }

    /// A datagram of this length passed alone.
    ///
    /// @return whether it was for being a run that a run was refused
    boolean onPassed(final int datagramBytes) {
        if (!concerns(datagramBytes)) {
            return false;
        }
        refusedBytes = NONE;
        return asRun;
    }
}
