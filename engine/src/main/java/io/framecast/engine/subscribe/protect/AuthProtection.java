package io.framecast.engine.subscribe.protect;

import io.framecast.engine.auth.AuthKeys;
import io.framecast.engine.crypto.SystemCrypto;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.session.CounterBoard;
import io.framecast.reliability.secure.DataKeys;
import io.framecast.reliability.secure.DatagramSeals;
import io.framecast.reliability.secure.ProtectionEvent;
import io.framecast.reliability.secure.ReceiverProtection;
import io.framecast.reliability.wire.StreamInfo;
import java.util.function.LongPredicate;
import java.util.random.RandomGenerator;
import org.agrona.CloseHelper;

/// The protection of a subscription with `auth=`. All its sessions share one [ReceiverProtection], through
/// which every control datagram passes.
final class AuthProtection implements StreamProtection {
    // Repairs of an epoch that is over may come for so long.
    private static final long PREVIOUS_KEYS_NS = 10_000_000_000L;

    private final AuthKeys keys;
    private final SealRule seals;
    private final ReceiverProtection protection;
    private final Strangers strangers;
    private final RandomGenerator random;
    // Counted when a stranger was last looked for.
    private long refusals;
    private long plainDatagrams;

    /// @param keys this object's from now on
    AuthProtection(
            final AuthKeys keys,
            final SealRule seals,
            final ControlLane control,
            final ControlLane.Handler onControl,
            final LongPredicate isMember,
            final Strangers strangers,
            final RandomGenerator random) {
        this.keys = keys;
        this.seals = seals;
        this.strangers = strangers;
        this.random = random;
        protection = new ReceiverProtection(
                keys,
                SystemCrypto.get(),
                control.address().toBytes(),
                PREVIOUS_KEYS_NS,
                random,
                control::sendPlain,
                onControl::onControl);
        protection.keepWhere(isMember);
        control.protect(protection);
    }

    @Override
    public SealRule seals() {
        return seals;
    }

    @Override
    public void count(final CounterBoard counters) {
        counters.protection(protection.counts());
    }

    @Override
    public int doWork(final long nowNs) {
        return protection.doWork(nowNs);
    }

    @Override
    public long nextDeadlineNs() {
        return protection.nextDeadlineNs();
    }

    @Override
    public boolean agree(final StreamInfo stream, final long nowNs) {
        return stream.seal() == StreamInfo.Seal.NONE
                || protection.agree(stream.session(), stream.controlAddress(), nowNs);
    }

    @Override
    public Admission admission(final StreamInfo stream) {
        if (stream.seal() == StreamInfo.Seal.NONE) {
            return new Admission.Plain(random.nextLong() | 1);
        }
        final DataKeys dataKeys = protection.dataKeys(stream.session());
        if (dataKeys == null) {
            // A successor's source is lost. Any other session was heard by a heartbeat that keys have opened.
            protection.refuse(stream.session());
            return new Admission.Keyed(
                    random.nextLong() | 1, DatagramSeals.of(stream.seal(), DataKeys.none(), SystemCrypto.get()));
        }
        return new Admission.Keyed(
                protection.receiverId(stream.session(), random),
                DatagramSeals.of(stream.seal(), dataKeys, SystemCrypto.get()));
    }

    @Override
    public void forget(final long session) {
        protection.forget(session);
    }

    @Override
    public void noticeStrangers(final long nowNs) {
        if (!strangers.isStrangerDue(nowNs)) {
            return;
        }
        final long refused = protection.counts().get(ProtectionEvent.ABANDONED);
        final long plain = protection.counts().get(ProtectionEvent.PLAIN);
        if (refused > refusals) {
            strangers.onStranger(
                    "a source there does not take key " + keys.id() + ": has it the same key file?", nowNs);
        } else if (plain > plainDatagrams) {
            strangers.onStranger("a source there has no auth= and is not listened to: give it the key", nowNs);
        }
        refusals = refused;
        plainDatagrams = plain;
    }

    @Override
    public void close() {
        CloseHelper.closeAll(protection, keys);
    }
}
