package io.framecast.reliability.send;

import java.util.Arrays;

/// The members that ask for datagrams which the source freed, though it waits for these members.
///
/// One such request proves nothing: it may have been overtaken by the acknowledgement of its repair. A member that has
/// the datagrams shows so by each acknowledgement of its own. A member that lacks them goes on asking, and the source
/// could never answer it.
///
/// Pure state; one thread.
final class FreedRequests {
    /// A member acknowledges more often than that, and asks again at least as often.
    private static final int PARTS_OF_TIMEOUT = 4;

    private static final long NONE = Long.MAX_VALUE;

    private final long patienceNs;
    private final long[] sinceNs;
    private final long[] freed;

    FreedRequests(final int membersMax, final long aliveTimeoutNs) {
        patienceNs = aliveTimeoutNs / PARTS_OF_TIMEOUT;
        sinceNs = new long[membersMax];
        freed = new long[membersMax];
        Arrays.fill(sinceNs, NONE);
    }

    /// A member asks for a datagram below the first that the source holds.
    ///
    /// @param held that first one
    /// @return whether the member lacks a freed datagram
    boolean onRequest(final int member, final long held, final long nowNs) {
        if (sinceNs[member] == NONE) {
            sinceNs[member] = nowNs;
            freed[member] = held;
        }
        return nowNs - sinceNs[member] >= patienceNs;
    }

    /// A member acknowledges everything below this sequence by itself.
    void onAcknowledged(final int member, final long sequence) {
        if (sequence >= freed[member]) {
            forget(member);
        }
    }

    /// The membership begins, or goes on by another receiver.
    void forget(final int member) {
        sinceNs[member] = NONE;
        freed[member] = 0;
    }
}
