package io.framecast.rdma;

import io.framecast.api.error.TransportException;
import io.framecast.rdma.verbs.PortAttributes;
import io.framecast.rdma.verbs.QueuePair;

/// Brings back a lane's queue pair that failed: one that sends while its cable is out fails (seen on
/// Soft-RoCE), and must not end a session that the cable's return would let go on.
///
/// A queue pair that failed gives back all that was posted. When it has, and the port is active and has its
/// address, it begins anew, with the same number and groups. One that fails again and again at once, although
/// all that is so, has another reason.
///
/// A port may come back with a smaller MTU, and would then drop the lane's datagrams silently: such a lane ends.
///
/// Threading: the lane's.
final class QueuePairRecovery {
    /// Between looks at the port, which are calls of the system.
    private static final long LOOK_NS = 10_000_000;

    /// Between looks for an address that is away: a thousand calls where a port's table is long.
    private static final long ADDRESS_LOOK_NS = 200_000_000;

    private static final long AGAIN_NS = 1_000_000_000;
    /// In a row, with longer pauses each time, 850 ms together: an address is gone before the table says so,
    /// and is back before its routes are.
    static final int AGAIN_MAX = 4;

    private static final int LONGER_SHIFT = 2;
    // In which a device gives back all that was posted, and an emulated CPU comes to it.
    private static final long FLUSH_MAX_NS = 5_000_000_000L;
    private static final long NEVER = Long.MIN_VALUE;

    private final RdmaPort port;
    private final QueuePair queuePair;
    private final int queueKey;
    /// The longest datagram of the lane.
    private final int datagramBytes;
    private boolean failed;
    private long lookNs;
    private long recoveredNs;
    /// Since when the port is active while the queue pair is not back.
    private long activeNs = NEVER;
    private int recoveries;
    // Failures soon after it was back, in a row.
    private int again;

    /// @param datagramBytes the longest datagram of the lane
    QueuePairRecovery(final RdmaPort port, final QueuePair queuePair, final int queueKey, final int datagramBytes) {
        this.port = port;
        this.queuePair = queuePair;
        this.queueKey = queueKey;
        this.datagramBytes = datagramBytes;
    }

    /// Whether the queue pair has failed and is not back.
    boolean isFailed() {
        return failed;
    }

    int recoveries() {
        return recoveries;
    }

    /// A request failed.
    ///
    /// @return whether the queue pair may come back
    /// @throws TransportException when the device does not answer any more
    boolean onFailure() {
        if (failed) {
            return true;
        }
        final boolean isAgain = isActive() && recoveries > 0 && System.nanoTime() - recoveredNs < AGAIN_NS;
        again = isAgain ? again + 1 : 0;
        if (again == AGAIN_MAX) {
            return false;
        }
        failed = true;
        lookNs = System.nanoTime() + (LOOK_NS << (LONGER_SHIFT * again)) - LOOK_NS;
        // A send that fails may leave the receives posted: all are to be given back.
        queuePair.fail();
        return true;
    }

    /// Whether to begin anew: the port is active and has its address, as far as it was looked at.
    ///
    /// @throws TransportException when it came back with too small an MTU
    boolean isDue() {
        final long nowNs = System.nanoTime();
        if (nowNs - lookNs < LOOK_NS) {
            return false;
        }
        final boolean isUp = isWide(attributes());
        final boolean isActive = isUp && port.hasGid();
        if (!isActive) {
            activeNs = NEVER;
        } else if (activeNs == NEVER) {
            activeNs = nowNs;
        }
        // A search for an absent address reads the whole table.
        lookNs = System.nanoTime() + (isUp && !isActive ? ADDRESS_LOOK_NS - LOOK_NS : 0);
        return isActive;
    }

    /// It is due, but its device holds receives back.
    ///
    /// @throws TransportException when it has done so for longer than a device may
    void await(final int receives) {
        if (activeNs != NEVER && System.nanoTime() - activeNs > FLUSH_MAX_NS) {
            throw new TransportException("verbs: " + queuePair + " failed, and its device has not given back "
                    + receives + " receives since its port came back: start this process anew");
        }
    }

    /// The port may have changed: no other code looks at it while the queue pair works.
    ///
    /// @throws TransportException when it is active with too small an MTU
    void requireWide() {
        isWide(attributes());
    }

    private boolean isWide(final PortAttributes now) {
        final int activeBytes = now.mtu().activeBytes();
        // A port that is down may name any.
        if (now.isActive() && activeBytes < datagramBytes) {
            throw new TransportException("verbs: " + port.context() + " port "
                    + port.gid().port() + " has an MTU of " + activeBytes
                    + " now, and this stream's datagrams of " + datagramBytes
                    + " bytes would be lost; put the MTU of its interface back, or start both ends"
                    + " anew");
        }
        return now.isActive();
    }

    /// Makes the queue pair ready again; nothing is posted.
    void restart() {
        queuePair.reset();
        queuePair.startDatagrams(port.gid().port(), 0, queueKey);
        failed = false;
        activeNs = NEVER;
        recoveredNs = System.nanoTime();
        recoveries++;
    }

    private boolean isActive() {
        return attributes().isActive() && port.hasGid();
    }

    private PortAttributes attributes() {
        return port.context().port(port.gid().port());
    }
}
