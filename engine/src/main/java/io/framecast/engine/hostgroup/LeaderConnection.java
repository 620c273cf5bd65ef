package io.framecast.engine.hostgroup;

import io.framecast.engine.libc.UnixSocket;

/// A follower's connection to one leader. It is open as long as anything that this leader shared is used: by its end
/// the leader knows that it may write there.
///
/// Threading: one thread talks; any thread ends its use.
final class LeaderConnection {
    private final UnixSocket socket;
    private final Holds uses = new Holds();

    /// @param socket this object's from now on
    LeaderConnection(final UnixSocket socket) {
        this.socket = socket;
    }

    UnixSocket socket() {
        return socket;
    }

    /// A segment of this leader is used from now on.
    void take() {
        uses.take();
    }

    void give() {
        uses.give();
    }

    /// Nothing more is expected of this leader.
    void close() {
        uses.close(socket::close);
    }
}
