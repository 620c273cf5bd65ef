package io.framecast.engine.udp;

import io.framecast.engine.ready.ReadySet;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Which receiving sockets of a transport have something to take, by one call for all of them instead of one for each
/// that is empty.
///
/// Threading: any; what a look finds is told to all sockets, whose own threads may see it late, but not never: what is
/// ready stays so until it is taken.
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

    /// Null where the system has no such call: each socket is asked then.
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
        watched.watch(set, tag);
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

    /// Something was taken, and more may have arrived meanwhile: what the last look did not find is not known any more.
    synchronized void onTaken() {
        stale = true;
        takes++;
    }

    /// How often something was taken.
    synchronized long takes() {
        return takes;
    }

    @Override
    public synchronized void close() {
        set.close();
    }
}
