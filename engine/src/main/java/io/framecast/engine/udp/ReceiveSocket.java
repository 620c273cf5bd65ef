package io.framecast.engine.udp;

/// A socket that receives, and whether the kernel is asked to join what arrives there. Where nothing is ever joined (a
/// network card that does not, a source that sends single datagrams), many datagrams per call are worth more, so
/// joining is given up for a while. One thread.
final class ReceiveSocket {
    // Single datagrams in a row, each with another behind it.
    private static final int SINGLES_MAX = 64;
    private static final int RETRY_AFTER = 1 << 16;

    private final LinuxSocket socket;
    private final Offload offload;
    private final boolean canJoin;
    private boolean joining;
    private boolean leaving;
    private int singles;
    private int untilRetry;

    /// @param join whether datagrams may be joined
    ReceiveSocket(final LinuxSocket socket, final Offload offload, final boolean join) {
        this.socket = socket;
        this.offload = offload;
        joining = join && offload.joinOn(socket);
        canJoin = joining;
    }

    int receive(final long messages, final int count) {
        return socket.receive(messages, count);
    }

    /// Whether a message may be joined of several datagrams.
    boolean joining() {
        return joining;
    }

    /// A message was taken while joining.
    void onMessage(final boolean joined) {
        singles = joined ? 0 : singles + 1;
        leaving = !joined && (leaving || singles >= SINGLES_MAX);
    }

    /// The socket was found empty: what arrives one by one could not be joined. Nothing joined is left, of which the
    /// kernel would not tell the lengths any more.
    void onEmpty() {
        singles = 0;
        if (leaving) {
            leaving = false;
            offload.joinOff(socket);
            joining = false;
            untilRetry = RETRY_AFTER;
        }
    }

    /// Datagrams were taken while not joining.
    void onDatagrams(final int count) {
        untilRetry -= count;
        if (canJoin && untilRetry <= 0) {
            joining = offload.joinOn(socket);
            untilRetry = RETRY_AFTER;
        }
    }
}
