package io.framecast.engine.udp;

import io.framecast.engine.ready.ReadySet;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Finds the receiving sockets of a transport that have datagrams, by one call for all sockets instead of one
/// call for each empty socket.
///
/// Threading: any. A look marks the sockets that it finds; their own threads may see the mark late, but always
/// see it: a socket stays ready until its datagrams are taken.
final class Readiness implements AutoCloseable {
    private static final int SOCKETS_MIN = 8;

    private final ReadySet set;
    private @Nullable ReceiveSocket[] sockets = new ReceiveSocket[SOCKETS_MIN];
    private long looks;
    private boolean stale;
    private long takes;

    private Readiness(final ReadySet set) {
        this.set = set;
    }

    /// Null where the system has no epoll: the lanes then ask each socket.
    static @Nullable Readiness open() {
        return ReadySet.isPresent() ? new Readiness(ReadySet.open()) : null;
    }

    int descriptor() {
        return set.descriptor();
    }

    synchronized void add(final ReceiveSocket socket, final LinuxSocket watched) {
        int tag = 0;
        while (tag < sockets.length && sockets[tag] != null) {
            tag++;
        }
        if (tag == sockets.length) {
            sockets = Arrays.copyOf(sockets, 2 * tag);
        }
        set.add(watched.descriptor(), tag);
        sockets[tag] = socket;
    }

    /// The socket is about to be closed.
    synchronized void remove(final ReceiveSocket socket) {
        for (int tag = 0; tag < sockets.length; tag++) {
            if (sockets[tag] == socket) {
                sockets[tag] = null;
            }
        }
    }

    /// Looks, unless that was done since the look of this number and nothing was taken since.
    ///
    /// @return number of the newest look
    synchronized long lookAfter(final long seen) {
        if (seen == looks || stale) {
            looks++;
            stale = false;
            final int ready = set.look();
            for (int i = 0; i < ready; i++) {
                final ReceiveSocket socket = sockets[set.tag(i)];
                if (socket != null) {
                    socket.onReady();
                }
            }
        }
        return looks;
    }

    /// Datagrams were taken, and more may have arrived meanwhile: the last look no longer proves a socket
    /// empty.
    synchronized void onTaken() {
        stale = true;
        takes++;
    }

    /// How often datagrams were taken.
    synchronized long takes() {
        return takes;
    }

    @Override
    public synchronized void close() {
        set.close();
    }
}
