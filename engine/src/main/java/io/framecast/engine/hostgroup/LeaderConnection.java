package io.framecast.engine.hostgroup;

import io.framecast.engine.libc.UnixSocket;

/// A follower's connection to one leader. It is open as long as the follower uses anything that this leader shared. By
/// its end the leader knows that it may write there.
///
/// Threading: one thread talks; any thread ends its use.
final class LeaderConnection {
    private final UnixSocket socket;
    private final RefCount uses = new RefCount();

    /// @param socket this object's from now on
    LeaderConnection(final UnixSocket socket) {
        this.socket = socket;
    }

    UnixSocket socket() {
        return socket;
    }

    /// A segment of this leader is used from now on.
    void acquire() {
        uses.acquire();
    }

    void release() {
        uses.release();
    }

    /// Nothing more is expected of this leader.
    void close() {
        uses.close(socket::close);
    }
}
