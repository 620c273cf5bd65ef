package io.framecast.engine.subscribe;

import io.framecast.engine.session.DisconnectReason;
import io.framecast.reliability.receive.ReceiverMachine;

/// The cause that kept a subscriber from a source, in one line, and the source. The source's later end does not
/// replace the cause.
///
/// The receiver's thread.
final class JoinObstacle {
    private String line = "";
    private long session;

    /// A source was joined.
    void clear() {
        line = "";
    }

    /// The source of a handshake refused it, or does not answer.
    ///
    /// @return the reason
    String onDeclined(final JoinedSession one) {
        final ReceiverMachine machine = one.machine();
        final String before = of(one);
        final String reason = DisconnectReason.notJoined(machine, before);
        keep(one, DisconnectReason.hasSourceClosed(machine) ? before : reason);
        return reason;
    }

    /// The source of a handshake fell silent.
    ///
    /// @return the reason
    String onSilent(final JoinedSession one) {
        final String before = of(one);
        keep(one, before);
        return before.isEmpty()
                ? "join failed: a source was heard and does not answer; is it running?"
                : before + "; then the source fell silent";
    }

    // Of this attempt to join, or of an earlier one.
    private String of(final JoinedSession one) {
        return one.obstacle().isEmpty() && one.id() == session ? line : one.obstacle();
    }

    private void keep(final JoinedSession one, final String cause) {
        line = cause;
        session = one.id();
    }
}
