package io.framecast.engine.subscribe.protect;

import io.framecast.api.SecurityOptions;
import io.framecast.engine.auth.AuthKeys;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.session.CounterBoard;
import io.framecast.reliability.wire.StreamInfo;
import java.util.function.LongPredicate;
import java.util.random.RandomGenerator;

/// The protection of a subscription's control datagrams and data, where its streams are protected (`auth=`):
/// the handshakes with sources, the keys that come of them, and the terms on which the subscription joins.
///
/// Threading: the thread that makes the subscription makes it; the receiver's thread calls all else. It owns
/// its keys.
public interface StreamProtection extends AutoCloseable {
    /// The protection that a channel asks for.
    ///
    /// @param control seals and opens its datagrams by it, from the first one on
    /// @param onControl takes the heartbeat with which a handshake began, once it is verified
    /// @param isMember whether the subscription takes part in a session, or is about to
    /// @param random of keys and ids, a cryptographic one
    /// @throws io.framecast.api.error.ConfigException where the channel's key file cannot be used
    static StreamProtection of(
            final SecurityOptions security,
            final ControlLane control,
            final ControlLane.Handler onControl,
            final LongPredicate isMember,
            final Strangers strangers,
            final RandomGenerator random) {
        return AuthKeys.ofReceiver(security)
                .<StreamProtection>map(keys -> new AuthProtection(
                        keys, SealRule.keyed(security), control, onControl, isMember, strangers, random))
                .orElseGet(() -> new Unprotected(random));
    }

    /// The seals of the sources that the subscription listens to. Any thread.
    SealRule seals();

    /// Adds its counters.
    void count(CounterBoard counters);

    /// Handshakes: repeats what was not answered, gives up, retires keys.
    ///
    /// @return number of things done
    int doWork(long nowNs);

    /// The time of the next [#doWork], or `Long.MAX_VALUE`.
    long nextDeadlineNs();

    /// Whether the subscription has what it needs to take part in a session; where keys are missing, a
    /// handshake with the source is under way then.
    boolean agree(StreamInfo stream, long nowNs);

    /// New terms on which the subscription takes part in a session.
    ///
    /// @return the caller's
    Admission admission(StreamInfo stream);

    /// The source may know this receiver no more: the next membership in its session begins with a handshake.
    void forget(long session);

    /// While no source delivers frames: reports sources that the subscription heard and does not listen to.
    void noticeStrangers(long nowNs);

    /// Wipes the keys.
    @Override
    void close();

    /// Of streams that everybody may join.
    record Unprotected(RandomGenerator random) implements StreamProtection {
        @Override
        public SealRule seals() {
            return SealRule.PLAIN;
        }

        @Override
        public void count(final CounterBoard counters) {
            // There is no handshake to count.
        }

        @Override
        public int doWork(final long nowNs) {
            return 0;
        }

        @Override
        public long nextDeadlineNs() {
            return Long.MAX_VALUE;
        }

        @Override
        public boolean agree(final StreamInfo stream, final long nowNs) {
            return true;
        }

        @Override
        public Admission admission(final StreamInfo stream) {
            return new Admission.Plain(random.nextLong() | 1);
        }

        @Override
        public void forget(final long session) {
            // There are no keys.
        }

        @Override
        public void noticeStrangers(final long nowNs) {
            // Heartbeats that are sealed are malformed here, and reported as such.
        }

        @Override
        public void close() {
            // There are no keys.
        }
    }
}
