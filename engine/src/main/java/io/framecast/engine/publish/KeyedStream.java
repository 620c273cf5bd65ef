package io.framecast.engine.publish;

import io.framecast.api.Channel;
import io.framecast.api.SecurityOptions;
import io.framecast.engine.auth.AuthKeys;
import io.framecast.engine.crypto.CipherSpeed;
import io.framecast.engine.crypto.SystemCrypto;
import io.framecast.engine.memory.RollbackOnFailure;
import io.framecast.engine.port.ControlLane;
import io.framecast.engine.session.CounterBoard;
import io.framecast.reliability.secure.DatagramSeals;
import io.framecast.reliability.secure.KeyRotation;
import io.framecast.reliability.secure.ProtectionEvent;
import io.framecast.reliability.secure.SourceProtection;
import io.framecast.reliability.send.SenderConfig;
import io.framecast.reliability.session.SendSession;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.StreamInfo;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.agrona.CloseHelper;

/// A stream with `auth=`: receivers shake hands before they join, control datagrams and headers are sealed, keys
/// change.
final class KeyedStream implements StreamSecurity {
    private static final long STRANGER_NOTICE_NS = 60_000_000_000L;

    private final String name;
    private final AuthKeys keys;
    private final SourceProtection protection;
    private final DatagramSeals seals;
    private final KeyRotation rotation;
    private final Consumer<String> notices;
    private long strangers;
    private long strangerNoticeNs;

    /// Reads the keys, and puts itself in front of the control lane and behind the window.
    ///
    /// @param payloads from which the window's datagrams are sent
    KeyedStream(
            final SecurityOptions security,
            final ControlLane control,
            final SendSession session,
            final MemorySegment payloads,
            final Consumer<String> notices) {
        final StreamInfo stream = session.stream();
        name = "publisher of " + stream.channel();
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
            session.window().sealedBy(seals, payloads);
            if (!stream.seal().isEncrypting()) {
                notices.accept(name
                        + ": for those who have a key alone; payloads=unprotected: payloads are neither encrypted nor"
                        + " authenticated");
            }
            final long everyNs = TimeUnit.MILLISECONDS.toNanos(security.rekeyMs());
            rotation = new KeyRotation(protection, session.window(), session, everyNs, stream.aliveTimeoutNs());
            opened.keep();
        }
    }

    /// How a channel's datagrams are sealed. `cipher=auto` is measured, and a notice says what it took.
    ///
    /// @param payloadBytes of a datagram
    static StreamInfo.Seal sealOf(final Channel channel, final int payloadBytes, final Consumer<String> notices) {
        final SecurityOptions security = channel.link().security();
        return switch (security.payloadCipher()) {
            case NONE -> security.isAuthenticated() ? StreamInfo.Seal.HEADER : StreamInfo.Seal.NONE;
            case AES_GCM -> StreamInfo.Seal.AES_GCM;
            case CHACHA20_POLY1305 -> StreamInfo.Seal.CHACHA20_POLY1305;
            case AUTO -> fastest(channel.name(), payloadBytes, notices);
        };
    }

    private static StreamInfo.Seal fastest(
            final String channel, final int payloadBytes, final Consumer<String> notices) {
        final CipherSpeed speed = CipherSpeed.measure(payloadBytes);
        notices.accept("publisher of " + channel + ": cipher=" + speed.cipher().word() + ", by " + speed.name() + ": "
                + speed.sealNs() + " ns for " + payloadBytes + " bytes, the other " + speed.otherNs());
        return switch (speed.cipher()) {
            case AES_GCM -> StreamInfo.Seal.AES_GCM;
            case CHACHA20_POLY1305 -> StreamInfo.Seal.CHACHA20_POLY1305;
        };
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

    // Once a minute at most: anybody may try.
    @Override
    public void look(final long nowNs) {
        final Counts<ProtectionEvent> counts = protection.counts();
        final long found = counts.get(ProtectionEvent.BAD_PROOF) + counts.get(ProtectionEvent.UNKNOWN_KEY);
        if (found > strangers && nowNs >= strangerNoticeNs) {
            final String problem = keys.problem();
            notices.accept(
                    name + ": one that has no key of auth= was kept out" + (problem == null ? "" : ", " + problem)
                            + "; more of them are counted, and reported once a minute");
            strangerNoticeNs = nowNs + STRANGER_NOTICE_NS;
            strangers = found;
        }
    }

    @Override
    public void countOn(final CounterBoard board) {
        board.protection(protection.counts());
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
    public void close() {
        CloseHelper.closeAll(seals, protection, keys);
    }
}
