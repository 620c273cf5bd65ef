package io.framecast.engine.publish;

import io.framecast.api.SecurityOptions;
import io.framecast.engine.session.CounterBoard;
import io.framecast.engine.session.ProtectionLevel;
import io.framecast.engine.session.SessionContext;
import io.framecast.reliability.session.SendSession;

/// The protection of a source's control datagrams and data, where its stream is protected (`auth=`): the
/// handshakes of receivers, the keys and their change. The subscribers' end of it is `StreamProtection`.
///
/// Used by the sender's thread. It owns its keys.
interface PublisherProtection extends AutoCloseable {
    /// The protection that a channel asks for. It puts itself in front of the control lane and behind the window.
    ///
    /// @throws io.framecast.api.error.ConfigException where the channel's keys cannot be used
    static PublisherProtection of(
            final SecurityOptions security,
            final SourceLanes lanes,
            final SendSession session,
            final SessionContext context) {
        return switch (ProtectionLevel.of(security)) {
            case NONE -> new Unprotected();
            case HEADERS -> {
                final AuthPublisherProtection made =
                        new AuthPublisherProtection(security, lanes, session, "", context.notices());
                context.notices()
                        .accept("publisher of " + session.stream().channel()
                                + ": for those who have a key alone; payloads=unprotected: payloads are neither"
                                + " encrypted nor authenticated");
                yield made;
            }
            case PAYLOADS ->
                new AuthPublisherProtection(
                        security, lanes, session, "cipher= encrypts payloads in the window", context.notices());
        };
    }

    /// Handshakes and changes of keys, in each cycle, behind the datagrams that came.
    ///
    /// @return the work that was done
    int doWork(long nowNs);

    /// The time of the next [#doWork], or `Long.MAX_VALUE`.
    long nextDeadlineNs();

    /// A member was evicted, and has its notice.
    void onEvicted(long receiverId);

    /// Ten times a second: reports receivers that were kept out.
    void noticeStrangers(long nowNs);

    /// Adds its counters.
    void count(CounterBoard counters);

    /// Tag of the key that readers on this host need, as [io.framecast.engine.auth.AuthKeys#hostTag] has it;
    /// empty where they need none.
    String hostTag();

    /// Why no subscriber on this host may read the window; empty for no reason.
    String shareObstacle();

    /// Why no frame is sent from device memory; empty for no reason.
    String gatherRefusal();

    /// Wipes the keys.
    @Override
    void close();

    /// Of a stream that everybody may join.
    record Unprotected() implements PublisherProtection {
        @Override
        public int doWork(final long nowNs) {
            return 0;
        }

        @Override
        public long nextDeadlineNs() {
            return Long.MAX_VALUE;
        }

        @Override
        public void onEvicted(final long receiverId) {
            // There is no key to change.
        }

        @Override
        public void noticeStrangers(final long nowNs) {
            // There are no strangers.
        }

        @Override
        public void count(final CounterBoard counters) {
            // There is no handshake to count.
        }

        @Override
        public String hostTag() {
            return "";
        }

        @Override
        public String shareObstacle() {
            return "";
        }

        @Override
        public String gatherRefusal() {
            return "";
        }

        @Override
        public void close() {
            // There are no keys.
        }
    }
}
