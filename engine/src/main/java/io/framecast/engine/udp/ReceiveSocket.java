package io.framecast.engine.udp;

import org.jspecify.annotations.Nullable;

/// A receiving socket, and whether the kernel joins datagrams there. The kernel may join none, because of the
/// network card or because the source sends single datagrams. Then many datagrams per call are faster, so the
/// socket stops joining for a while. One thread.
final class ReceiveSocket {
    // Single datagrams in a row, each with another behind it.
    private static final int SINGLES_MAX = 64;
    private static final int RETRY_AFTER = 1 << 16;
    private static final long NEVER = -1;

    private final LinuxSocket socket;
    private final Offload offload;
    private final boolean canJoin;
    private final @Nullable Readiness readiness;
    private final boolean asked;
    // True until a receive empties the socket, and again once a look finds it ready.
    private boolean ready = true;
    private long emptySince = NEVER;
    private long look;
    private boolean joining;
    private boolean leaving;
    private int singles;
    private int untilRetry;

    /// @param readiness finds ready sockets; null: the socket counts as ready always
    /// @param asked whether the lane asks the socket itself, instead of a look
    /// @param join whether datagrams may be joined
    ReceiveSocket(
            final LinuxSocket socket,
            final Offload offload,
            final @Nullable Readiness readiness,
            final boolean asked,
            final boolean join) {
        this.socket = socket;
        this.readiness = readiness;
        this.asked = asked;
        this.offload = offload;
        joining = join && offload.joinOn(socket);
        canJoin = joining;
        if (readiness != null && !asked) {
            readiness.add(this, socket);
        }
    }

    int receive(final long messages, final int count) {
        final int received = socket.receive(messages, count);
        if (readiness != null) {
            if (received > 0) {
                readiness.onTaken();
            }
            // The socket is empty when it gave fewer datagrams than there was room for.
            ready = received == count;
            emptySince = ready ? NEVER : readiness.takes();
        }
        return received;
    }

    /// Whether the socket may hold datagrams. The first call after a receive that emptied the socket answers no
    /// without a look, unless another socket gave datagrams since: those may announce some that have arrived
    /// here.
    boolean isReady() {
        if (readiness == null || ready) {
            return true;
        }
        final long empty = emptySince;
        emptySince = NEVER;
        if (empty == readiness.takes()) {
            return false;
        }
        if (asked) {
            return true;
        }
        look = readiness.lookAfter(look);
        return ready;
    }

    /// A look has found the socket ready.
    void onReady() {
        ready = true;
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

    /// The socket was found empty: datagrams that arrive one by one could not be joined. It holds no joined
    /// message, whose lengths the kernel would not report once joining is off.
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
