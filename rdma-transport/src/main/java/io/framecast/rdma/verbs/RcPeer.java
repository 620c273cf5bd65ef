package io.framecast.rdma.verbs;

/// The other end of a reliable connection, and how patient to be with it. Both ends exchange queue pair
/// number, packet sequence number and GID by other means, then connect.
///
/// @param path path to the peer's port
/// @param queuePair the peer's queue pair number
/// @param receivePsn the peer's first packet sequence number, 24 bits
/// @param sendPsn this end's first packet sequence number, 24 bits, which the peer must know
/// @param mtuBytes path MTU: 256 … 4096, at most the active MTU of both ports
/// @param patience how often and how long to try
public record RcPeer(AddressPath path, int queuePair, int receivePsn, int sendPsn, int mtuBytes, Patience patience) {
    /// Always bounded: an endless wait for a peer that is gone would hold its resources for ever.
    ///
    /// @param ackTimeout acknowledgement time-out, 4.096 µs · 2^value, 1 … 31
    /// @param retries sends without answer before the connection breaks, 0 … 6: with 7 Soft-RoCE tries for ever
    /// @param notReadyRetries sends to a peer without a posted receive before the connection breaks, 0 … 6; 7
    ///     would be for ever
    /// @param notReadyTimer the pause that the peer keeps before such a retry, coded as in IBTA 9.7.5.2.8 (12: 0.64
    ///     ms)
    /// @param readsMax reads and atomics outstanding, each way
    public record Patience(int ackTimeout, int retries, int notReadyRetries, int notReadyTimer, int readsMax) {
        /// For operations that need no receive of the peer's: 67 ms, six times. The standard lets devices take
        /// up to four times as long, so a peer that is gone is given up after half a second to two: long enough
        /// for a cable that is moved, and well within the five seconds after which a source counts as lost.
        public static final Patience DEFAULT = new Patience(14, 6, 0, 12, 4);

        private static final int RETRIES_MAX = 6;
        private static final int TIMEOUT_MAX = 31;

        public Patience {
            if (ackTimeout < 1 || ackTimeout > TIMEOUT_MAX) {
                throw new IllegalArgumentException("patience: expected a time-out of 1 … 31, got " + ackTimeout);
            }
            if (retries < 0 || retries > RETRIES_MAX || notReadyRetries < 0 || notReadyRetries > RETRIES_MAX) {
                throw new IllegalArgumentException(
                        "patience: expected 0 … 6 retries, got " + retries + " and " + notReadyRetries);
            }
        }
    }
}
