package io.framecast.engine.publish;

import io.framecast.api.SecurityOptions;
import io.framecast.engine.auth.AuthKeys;
import io.framecast.engine.crypto.SystemCrypto;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.session.CounterBoard;
import io.framecast.reliability.flow.Interval;
import io.framecast.reliability.secure.DatagramSeals;
import io.framecast.reliability.secure.KeyRotation;
import io.framecast.reliability.secure.ProtectionEvent;
import io.framecast.reliability.secure.SourceProtection;
import io.framecast.reliability.send.SenderConfig;
import io.framecast.reliability.session.SendSession;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.StreamInfo;
import java.security.SecureRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.agrona.CloseHelper;

/// The protection of a source with `auth=`: receivers shake hands before they join, control datagrams and headers
/// are sealed, keys change.
final class AuthPublisherProtection implements PublisherProtection {
    // Anybody may try.
    private static final long STRANGER_NOTICE_NS = 60_000_000_000L;

    private final String name;
    private final AuthKeys keys;
    private final SourceProtection protection;
    private final DatagramSeals seals;
    private final KeyRotation rotation;
    private final String gatherRefusal;
    private final Consumer<String> notices;
    private final Interval strangerNotice = new Interval(STRANGER_NOTICE_NS);
    private long strangers;

    /// Reads the keys, and puts itself in front of the control lane and behind the window.
    ///
    /// @param gatherRefusal why no frame is sent from device memory; empty for no reason
    AuthPublisherProtection(
            final SecurityOptions security,
            final SourceLanes lanes,
            final SendSession session,
            final String gatherRefusal,
            final Consumer<String> notices) {
        final StreamInfo stream = session.stream();
        final ControlLane control = lanes.control();
        name = "publisher of " + stream.channel();
        this.gatherRefusal = gatherRefusal;
        this.notices = notices;
        try (RollbackOnFailure opened = new RollbackOnFailure()) {
            keys = opened.add(AuthKeys.ofSource(security.auth()));
            protection = opened.add(new SourceProtection(
                    stream.session(),
                    keys,
                    SystemCrypto.get(),
                    2 * SenderConfig.MEMBERS_MAX_DEFAULT,
                    new SecureRandom(),
                    control::sendPlain));
            control.protect(protection);
            seals = opened.add(DatagramSeals.of(stream.seal(), protection.dataKeys(), SystemCrypto.get()));
            session.window().sealedBy(seals, lanes.memory().ring().payload());
            final long everyNs = TimeUnit.MILLISECONDS.toNanos(security.rekeyMs());
            rotation = new KeyRotation(protection, session.window(), session, everyNs, stream.aliveTimeoutNs());
            opened.keep();
        }
    }

    @Override
    public int doWork(final long nowNs) {
        final int work = protection.doWork(nowNs);
        rotation.tick(nowNs);
        return work;
    }

    @Override
    public long nextDeadlineNs() {
        return protection.nextDeadlineNs();
    }

    @Override
    public void onEvicted(final long receiverId) {
        rotation.onEvicted(receiverId);
    }

    @Override
    public void noticeStrangers(final long nowNs) {
        final Counts<ProtectionEvent> counts = protection.counts();
        final long found = counts.get(ProtectionEvent.BAD_PROOF) + counts.get(ProtectionEvent.UNKNOWN_KEY);
        if (found > strangers && strangerNotice.take(nowNs)) {
            final String problem = keys.problem();
            notices.accept(
                    name + ": one that has no key of auth= was kept out" + (problem == null ? "" : ", " + problem)
                            + "; more of them are counted, and reported once a minute");
            strangers = found;
        }
    }

    @Override
    public void count(final CounterBoard counters) {
        counters.protection(protection.counts());
    }

    @Override
    public String hostTag() {
        return keys.hostTag();
    }

    @Override
    public String shareObstacle() {
        return keys.hostTag().isEmpty() ? "auth=keys: has no key that is theirs too" : "";
    }

    @Override
    public String gatherRefusal() {
        return gatherRefusal;
    }

    @Override
    public void close() {
        CloseHelper.closeAll(seals, protection, keys);
    }
}
