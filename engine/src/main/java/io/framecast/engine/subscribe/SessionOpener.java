package io.framecast.engine.subscribe;

import io.framecast.engine.session.Failures;
import io.framecast.engine.subscribe.protect.Admission;
import io.framecast.engine.subscribe.protect.SealRule;
import io.framecast.reliability.wire.StreamInfo;
import org.agrona.CloseHelper;

/// Has sessions opened by the conductor, and takes the outcome back to the receiver's thread.
///
/// Threading: [#open] by the receiver's thread, which calls the outcome later.
final class SessionOpener {
    /// Takes the outcome of opening a session: one call for each.
    interface Outcome {
        /// @param made the outcome's from now on
        void onOpened(JoinedSession made, long nowNs);

        /// The source announces what this subscriber cannot use.
        ///
        /// @param admission closed
        void onIncompatible(StreamInfo stream, Admission admission, IncompatibleSourceException cause, long nowNs);

        /// The cause is not the source's.
        void onOpenFailed(long session, String reason, long nowNs);
    }

    private final ReceiverAgent receiver;
    private final JoinedSessionFactory factory;
    private final SealRule seals;
    private final Outcome outcome;

    /// @param seals of the sources that are to be joined
    SessionOpener(
            final ReceiverAgent receiver,
            final JoinedSessionFactory factory,
            final SealRule seals,
            final Outcome outcome) {
        this.receiver = receiver;
        this.factory = factory;
        this.seals = seals;
        this.outcome = outcome;
    }

    /// Asks the conductor for a session.
    ///
    /// @param admission the session's
    /// @param membership to begin with it, the opener's from now on
    void open(final StreamInfo stream, final Admission admission, final Membership membership) {
        receiver.conductor().send(() -> make(stream, admission, membership));
    }

    /// Opens a session on the caller's thread, and runs its later tasks there.
    JoinedSession openNow(final StreamInfo stream, final Admission admission, final Membership membership) {
        return factory.conductedBy(Runnable::run).open(stream, admission, membership);
    }

    // Conductor: makes a session's memory, lanes and machine. A subscription without an answer would wait for ever.
    private void make(final StreamInfo stream, final Admission admission, final Membership membership) {
        try (membership) {
            seals.refusal(stream.seal()).ifPresent(reason -> {
                throw new IncompatibleSourceException(reason, null);
            });
            final JoinedSession made = factory.open(stream, admission, membership);
            receiver.send(() -> outcome.onOpened(made, receiver.nowNs()));
        } catch (final IncompatibleSourceException e) {
            CloseHelper.quietClose(admission);
            receiver.send(() -> outcome.onIncompatible(stream, admission, e, receiver.nowNs()));
        } catch (final RuntimeException | Error e) {
            CloseHelper.quietClose(admission);
            final String reason = Failures.line("subscriber", e);
            receiver.send(() -> outcome.onOpenFailed(stream.session(), reason, receiver.nowNs()));
        }
    }
}
