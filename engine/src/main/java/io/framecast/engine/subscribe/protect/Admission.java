package io.framecast.engine.subscribe.protect;

import io.framecast.reliability.secure.DatagramSeals;
import io.framecast.reliability.session.ReceiveSession;

/// The terms on which a receiver takes part in a source's session: its id, and the keys of the session's
/// data. The session owns them.
///
/// Threading: the receiver's thread makes it; the conductor calls [#guard] while it opens the session, and
/// [#close].
public sealed interface Admission extends AutoCloseable {
    /// Not 0; random, in protected sessions its low half.
    long receiverId();

    /// Before the session's first cycle: its data count once they were opened, where they are sealed.
    void guard(ReceiveSession protocol);

    /// Wipes the keys.
    @Override
    void close();

    /// To a session whose data are not sealed.
    record Plain(long receiverId) implements Admission {
        @Override
        public void guard(final ReceiveSession protocol) {
            // Every datagram counts as it is.
        }

        @Override
        public void close() {
            // There are no keys.
        }
    }

    /// To a session whose data are sealed.
    ///
    /// @param opener opens datagrams of the data and repair lanes
    record Keyed(long receiverId, DatagramSeals opener) implements Admission {
        @Override
        public void guard(final ReceiveSession protocol) {
            protocol.openedBy(opener);
        }

        @Override
        public void close() {
            opener.close();
        }
    }
}
