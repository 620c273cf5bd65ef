package io.framecast.reliability.send;

import io.framecast.reliability.wire.AckLayout;
import java.util.Arrays;

/// The members that ask for datagrams which the source freed, though it waits for these members.
///
/// A request alone proves nothing: it may be late, or a copy from another host. An acknowledgement that echoes a later
/// heartbeat is newer than the request. If the member acknowledges less in it than was freed before that heartbeat,
/// the member lacks freed data, and the source could never answer it.
///
/// Pure state; one thread. Times are nanoseconds since the engine's start.
final class FreedRequests {
    private static final long NONE = Long.MAX_VALUE;

    private final long[] sinceNs;
    private final long[] freed;
    private final boolean[] lacks;

    FreedRequests(final int membersMax) {
        sinceNs = new long[membersMax];
        freed = new long[membersMax];
        lacks = new boolean[membersMax];
        Arrays.fill(sinceNs, NONE);
    }

    /// A member asks for a datagram below the first that the source holds.
    ///
    /// @param held that first one
    /// @return whether the member is known to lack a freed datagram
    boolean onRequest(final int member, final long held, final long nowNs) {
        if (sinceNs[member] == NONE) {
            sinceNs[member] = nowNs;
            freed[member] = held;
        }
        return lacks[member];
    }

    /// A member acknowledges everything below a sequence.
    ///
    /// @param echoTimeNs time of the heartbeat that it echoes, or [AckLayout#NO_ECHO]
    /// @param alone whether the member speaks for itself: a co-root's group may be behind it
    void onAcknowledged(final int member, final long sequence, final long echoTimeNs, final boolean alone) {
        if (sequence >= freed[member]) {
            forget(member);
        } else if (alone && echoTimeNs != AckLayout.NO_ECHO && echoTimeNs > sinceNs[member]) {
            lacks[member] = true;
        }
    }

    /// The membership begins, or goes on by another receiver.
    void forget(final int member) {
        sinceNs[member] = NONE;
        freed[member] = 0;
        lacks[member] = false;
    }
}
