package io.framecast.engine.subscribe;

import io.framecast.api.SourceEvent;
import io.framecast.api.SourceHandler;

/// Hears of sources that come and go: a handler of the user, where there is one. Without a handler nothing waits
/// for the report that a session ended.
interface SourceListener {
    /// The user has no handler.
    SourceListener NONE = new SourceListener() {
        @Override
        public void onSource(final SourceEvent event) {
            // Frames come and end without it.
        }

        @Override
        public boolean awaits(final SessionQueue queue) {
            return false;
        }

        @Override
        public boolean needs(final SessionQueue queue) {
            return !queue.isFinished() && !queue.isTaken();
        }

        @Override
        public void onLost(final SourceNotices notices, final String reason) {
            notices.accept(reason);
        }
    };

    /// The subscriber's thread.
    void onSource(SourceEvent event);

    /// Subscriber: whether a poll of the queue would report to it.
    boolean awaits(SessionQueue queue);

    /// Receiver: whether something of the queue is still to be polled or reported.
    boolean needs(SessionQueue queue);

    /// Receiver: a source is lost, which a line says where no handler does.
    void onLost(SourceNotices notices, String reason);

    /// A user's handler.
    record Handler(SourceHandler handler) implements SourceListener {
        @Override
        public void onSource(final SourceEvent event) {
            handler.onSource(event);
        }

        @Override
        public boolean awaits(final SessionQueue queue) {
            return queue.hasEvent();
        }

        @Override
        public boolean needs(final SessionQueue queue) {
            return !queue.isFinished();
        }

        @Override
        public void onLost(final SourceNotices notices, final String reason) {
            // The handler gets the event.
        }
    }
}
