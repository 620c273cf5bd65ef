package io.framecast.reliability.secure;

import io.framecast.reliability.crypto.Crypto;
import io.framecast.reliability.lane.ControlProtection;
import io.framecast.reliability.memory.Words;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.HeartbeatLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.function.LongPredicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A receiver's end of protected control datagrams, for all sessions of a subscription. A heartbeat of a session
/// without keys begins a handshake with the source that it names; it is not trusted further before the keys came.
/// Then [#doWork] verifies the last one of these heartbeats and hands it out.
///
/// At most [#PENDING_MAX] handshakes are under way at a time, and keys of [#SESSIONS_MAX] sessions are kept.
///
/// Threading: one thread. Ownership: it owns the keys that come of handshakes; the caller owns the shared one.
public final class ReceiverProtection implements ControlProtection {
    /// Handshakes under way.
    public static final int PENDING_MAX = 8;
    /// Sessions with keys.
    public static final int SESSIONS_MAX = 128;

    /// Takes a verified heartbeat.
    public interface Heartbeats {
        void onControl(MemorySegment datagram, long offset, int bytes, long nowNs);
    }

    // Heartbeats of an epoch that is unknown for so long: this receiver missed its keys.
    private static final long MISSED_NS = 2_000_000_000;
    private static final int SENDER_BURST_MAX = 64;
    // A key that is derived in vain is closed again, which stops other threads for a moment.
    private static final long SENDER_INTERVAL_NS = 10_000_000;

    private final Crypto crypto;
    private final long previousNs;
    private final Heartbeats onHeartbeat;
    private final Counts<ProtectionEvent> counts = new Counts<>(ProtectionEvent.class);
    private final ControlSealer sealer = new ControlSealer(counts);
    private final SourceHandshakes handshakes;
    private final HandshakeExchange exchange;
    // Keys of unknown senders that are derived before their datagrams are verified.
    private final AnswerBudget senderBudget = new AnswerBudget(SENDER_BURST_MAX, SENDER_INTERVAL_NS);
    private LongPredicate isJoined = _ -> false;
    private long sender;
    private long dueNs = Long.MAX_VALUE;

    /// Makes a receiver's end.
    ///
    /// @param keys the shared key, valid until this is closed
    /// @param crypto of control datagrams, which AES-GCM seals, and of the handshake
    /// @param address this receiver's control address
    /// @param previousNs time for which members are heard under an epoch that the source uses no more
    /// @param random of keys, a cryptographic one
    /// @param onHeartbeat takes the heartbeat with which a handshake began, once it is verified
    public ReceiverProtection(
            final SharedKeys keys,
            final Crypto crypto,
            final byte[] address,
            final long previousNs,
            final RandomGenerator random,
            final HandshakeOutput output,
            final Heartbeats onHeartbeat) {
        this.crypto = crypto;
        this.previousNs = previousNs;
        this.onHeartbeat = onHeartbeat;
        handshakes = new SourceHandshakes(crypto.curve(), random, sealer);
        exchange = new HandshakeExchange(keys, crypto, address, output, sealer, handshakes);
    }

    /// Before the first datagram: a session of which this holds keeps its keys though the source's heartbeats are
    /// of an epoch that it missed. Its receiver hears nothing then, and takes the source for lost; [#forget]
    /// follows.
    public void keepWhere(final LongPredicate joined) {
        isJoined = joined;
    }

    public Counts<ProtectionEvent> counts() {
        return counts;
    }

    /// Whether there are keys of a session.
    public boolean hasKeys(final long session) {
        return handshakes.agreed(session) != null;
    }

    /// Where there are no keys of a session: begins a handshake with its source, whose address is known, unless
    /// one is under way.
    ///
    /// @param sourceAddress its control address
    /// @return whether there are keys
    public boolean agree(final long session, final byte[] sourceAddress, final long nowNs) {
        final SourceHandshake known = handshakes.of(session);
        if (known == null && handshakes.hasRoom(nowNs)) {
            final SourceHandshake made = begin(session, nowNs);
            made.sourceAddress = sourceAddress;
        }
        return known != null && known.isAgreed();
    }

    private SourceHandshake begin(final long session, final long nowNs) {
        final SourceHandshake made = handshakes.begin(session, nowNs);
        dueNs = Math.min(dueNs, made.timer.dueNs());
        return made;
    }

    /// Nothing of a session is opened, and no handshake with its source begins, until [#forget]: its membership
    /// goes on without keys, and must not live by heartbeats while no data can be opened.
    public void refuse(final long session) {
        handshakes.refuse(session);
    }

    /// A new receiver's id in a session: the handshake's number and a random one.
    ///
    /// @return 0 where there are no keys of the session
    public long receiverId(final long session, final RandomGenerator ids) {
        final SourceHandshake handshake = handshakes.agreed(session);
        if (handshake == null) {
            return 0;
        }
        final int low = SourceHandshakes.newId(ids);
        return (long) handshake.id << 32 | Integer.toUnsignedLong(low);
    }

    /// Keys of a session's data.
    ///
    /// @return null where there are none; otherwise one until [#forget]
    public @Nullable DataKeys dataKeys(final long session) {
        final SourceHandshake handshake = handshakes.agreed(session);
        return handshake == null ? null : handshake.keys;
    }

    /// Wipes the keys of a session: it is over, or its source does not answer and may know this receiver no more.
    /// The next heartbeat of the session begins a handshake.
    public void forget(final long session) {
        handshakes.forget(session);
    }

    /// Id of the member that sent the last datagram that was opened; 0 where that was the source.
    public long sender() {
        return sender;
    }

    // Sealing.

    /// Seals nothing: a receiver sends to one at a time.
    @Override
    public int sealToGroup(final MemorySegment datagram, final int bytes) {
        return sealer.count(ProtectionEvent.UNSEALED);
    }

    @Override
    public int sealToPeer(final MemorySegment datagram, final int bytes) {
        final SourceHandshake handshake = handshakes.agreed(ControlLayout.SESSION.get(datagram, 0));
        if (handshake == null
                || handshake.toSource == null
                || HandshakeLayout.handshakeId(datagram, 0) != handshake.id) {
            return sealer.count(ProtectionEvent.UNSEALED);
        }
        return sealer.seal(handshake.toSource, EpochKeys.NONE, datagram, bytes);
    }

    @Override
    public int sealToMember(final MemorySegment datagram, final int bytes, final long senderId) {
        final SourceHandshake handshake = handshakes.agreed(ControlLayout.SESSION.get(datagram, 0));
        final EpochKeys epoch = handshake == null ? null : handshake.current();
        if (handshake == null || epoch == null || (int) (senderId >>> 32) != handshake.id) {
            return sealer.count(ProtectionEvent.UNSEALED);
        }
        final ControlKey key = epoch.own(senderId, handshake.memberCounter);
        return sealer.sealWithSender(key, EpochKeys.low(epoch.epoch()), datagram, bytes, senderId);
    }

    // Opening.

    @Override
    public int open(final MemorySegment memory, final long offset, final int bytes, final long nowNs) {
        if (!sealer.isSound(memory, offset, bytes)) {
            return 0;
        }
        final long session = ControlLayout.SESSION.get(memory, offset);
        if (handshakes.isRefused(session)) {
            return sealer.count(ProtectionEvent.NO_KEY);
        }
        final SourceHandshake handshake = handshakes.of(session);
        final int trailer = ControlLayout.TAG_BYTES.get(memory, offset);
        sender = 0;
        if (trailer == 0) {
            dueNs = Math.min(dueNs, exchange.onPlain(handshake, memory, offset, bytes, nowNs));
            return 0;
        }
        if (trailer == ControlSealer.TAG_ONLY && ControlLayout.RECEIVER.get(memory, offset) == 0) {
            return openFromGroup(handshake, memory, offset, bytes, nowNs);
        }
        if (handshake == null || handshake.toMember == null) {
            return sealer.count(ProtectionEvent.NO_KEY);
        }
        return trailer == ControlSealer.TAG_ONLY
                ? openFromSource(handshake, handshake.toMember, memory, offset, bytes, nowNs)
                : openFromMember(handshake, memory, offset, bytes, nowNs);
    }

    private int openFromSource(
            final SourceHandshake handshake,
            final ControlKey key,
            final MemorySegment memory,
            final long offset,
            final int bytes,
            final long nowNs) {
        if (HandshakeLayout.handshakeId(memory, offset) != handshake.id
                || ControlLayout.KEY_EPOCH.get(memory, offset) != EpochKeys.NONE) {
            return sealer.count(ProtectionEvent.NO_KEY);
        }
        final int plainBytes = sealer.open(key, memory, offset, bytes, nowNs);
        if (plainBytes > 0) {
            handshake.use(nowNs);
            if (ControlLayout.type(memory, offset) == ControlLayout.TYPE_KEYS) {
                onKeys(handshake, memory, offset, plainBytes, nowNs);
                return 0;
            }
        }
        return plainBytes;
    }

    private int openFromGroup(
            final @Nullable SourceHandshake handshake,
            final MemorySegment memory,
            final long offset,
            final int bytes,
            final long nowNs) {
        final EpochKeys epoch = handshake == null ? null : handshake.epoch(ControlLayout.KEY_EPOCH.get(memory, offset));
        if (handshake == null || epoch == null) {
            if (isAnnouncement(memory, offset, bytes)) {
                onStrangeHeartbeat(handshake, memory, offset, bytes, nowNs);
            }
            return sealer.count(ProtectionEvent.NO_KEY);
        }
        if (epoch.epoch() - handshake.keys.epoch() < 0) {
            // Evicted members have this key, and the source uses it no more.
            return sealer.count(ProtectionEvent.REPLAYED);
        }
        final int plainBytes = sealer.open(epoch.group(), memory, offset, bytes, nowNs);
        if (plainBytes > 0) {
            handshake.use(nowNs);
            handshake.strangeNs = Long.MAX_VALUE;
            activate(handshake, epoch, EpochKeys.NONE, nowNs);
            if (ControlLayout.type(memory, offset) == ControlLayout.TYPE_HEARTBEAT) {
                handshake.endDataAt(HeartbeatLayout.NEXT_SEQUENCE.get(memory, offset));
            }
        }
        return plainBytes;
    }

    private void activate(final SourceHandshake handshake, final EpochKeys epoch, final int before, final long nowNs) {
        if (epoch.epoch() - handshake.keys.epoch() > 0) {
            handshake.activate(epoch, before, nowNs + previousNs);
            dueNs = Math.min(dueNs, nowNs + previousNs);
        }
    }

    private int openFromMember(
            final SourceHandshake handshake,
            final MemorySegment memory,
            final long offset,
            final int bytes,
            final long nowNs) {
        final EpochKeys epoch = handshake.epoch(ControlLayout.KEY_EPOCH.get(memory, offset));
        final long from = ControlSealer.sender(memory, offset, bytes);
        // Its own datagrams come back where an attacker reflects them.
        if (epoch == null || (int) (from >>> 32) == handshake.id) {
            return sealer.count(ProtectionEvent.NO_KEY);
        }
        final ControlKey known = epoch.sender(from);
        final int plainBytes = known == null
                ? openFromUnknown(epoch, from, memory, offset, bytes, nowNs)
                : sealer.open(known, memory, offset, bytes, nowNs);
        if (plainBytes > 0) {
            sender = from;
        }
        return plainBytes;
    }

    // Its key takes a place only once a datagram was verified.
    private int openFromUnknown(
            final EpochKeys epoch,
            final long from,
            final MemorySegment memory,
            final long offset,
            final int bytes,
            final long nowNs) {
        if (!senderBudget.take(nowNs)) {
            return sealer.count(ProtectionEvent.LIMITED);
        }
        final ControlKey key = epoch.derive(from);
        final int plainBytes = sealer.open(key, memory, offset, bytes, nowNs);
        if (plainBytes > 0) {
            epoch.keep(from, key);
        } else {
            key.close();
        }
        return plainBytes;
    }

    private void onKeys(
            final SourceHandshake handshake,
            final MemorySegment memory,
            final long offset,
            final int bytes,
            final long nowNs) {
        if (bytes != KeysLayout.KEYS_BYTES) {
            counts.add(ProtectionEvent.MALFORMED);
            return;
        }
        final EpochKeys given = EpochKeys.read(crypto, memory, offset + ControlLayout.LENGTH);
        final int epoch = given.epoch();
        final List<EpochKeys> held = handshake.keys.epochs();
        final boolean isNew = epoch - held.getLast().epoch() > 0 && EpochKeys.low(epoch) != EpochKeys.NONE;
        if (isNew) {
            handshake.add(given);
            final EpochKeys inUse = handshake.epoch(EpochKeys.low(KeysLayout.IN_USE.get(memory, offset)));
            if (inUse != null) {
                activate(handshake, inUse, KeysLayout.BEFORE.get(memory, offset), nowNs);
                handshake.forgetUnused(inUse.epoch());
            }
        } else {
            given.close();
        }
        if (isNew || handshake.keys.key(epoch) != null) {
            counts.add(ProtectionEvent.HANDSHAKE);
            exchange.acknowledge(handshake, epoch);
        } else {
            counts.add(ProtectionEvent.REPLAYED);
        }
    }

    // The handshake.

    private static boolean isAnnouncement(final MemorySegment memory, final long offset, final int bytes) {
        return ControlLayout.type(memory, offset) == ControlLayout.TYPE_HEARTBEAT
                && ControlLayout.SESSION.get(memory, offset) != 0
                && ControlLayout.KEY_EPOCH.get(memory, offset) != EpochKeys.NONE
                && bytes > HeartbeatLayout.CONTROL_ADDRESS.at() + 33 + ControlSealer.TAG_ONLY
                && HeartbeatLayout.CONTROL_ADDRESS.isValid(memory, offset);
    }

    // Of a session without keys, or of an epoch without keys.
    private void onStrangeHeartbeat(
            final @Nullable SourceHandshake known,
            final MemorySegment memory,
            final long offset,
            final int bytes,
            final long nowNs) {
        final long session = ControlLayout.SESSION.get(memory, offset);
        SourceHandshake handshake = known;
        if (handshake != null && handshake.isAgreed()) {
            handshake.strangeNs = Math.min(handshake.strangeNs, nowNs);
            if (nowNs - handshake.strangeNs < MISSED_NS || isJoined.test(session)) {
                return;
            }
            forget(session);
            handshake = null;
        }
        if (handshake == null) {
            if (!handshakes.hasRoom(nowNs)) {
                counts.add(ProtectionEvent.LIMITED);
                return;
            }
            handshake = begin(session, nowNs);
        }
        Words.copy(memory, offset, handshake.heartbeat, 0, bytes);
        handshake.heartbeatBytes = bytes;
        dueNs = Math.min(dueNs, handshake.timer.dueNs());
    }

    @Override
    public int doWork(final long nowNs) {
        if (nowNs < dueNs) {
            return 0;
        }
        int work = 0;
        dueNs = Long.MAX_VALUE;
        for (int i = handshakes.count() - 1; i >= 0; i--) {
            final SourceHandshake handshake = handshakes.get(i);
            if (handshake.isAgreed()) {
                dueNs = Math.min(dueNs, handshake.retire(nowNs));
                work += handOut(handshake, nowNs);
            } else if (nowNs - handshake.begunNs >= SourceHandshake.LIMIT_NS) {
                counts.add(ProtectionEvent.ABANDONED);
                forget(handshake.session);
                work++;
            } else {
                if (handshake.timer.isDue(nowNs)) {
                    exchange.ask(handshake, nowNs);
                    work++;
                }
                final long endNs = handshake.begunNs + SourceHandshake.LIMIT_NS;
                dueNs = Math.min(dueNs, Math.min(handshake.timer.dueNs(), endNs));
            }
        }
        return work;
    }

    // The heartbeat with which the handshake began, once.
    private int handOut(final SourceHandshake handshake, final long nowNs) {
        final int bytes = handshake.heartbeatBytes;
        if (bytes == 0) {
            return 0;
        }
        handshake.heartbeatBytes = 0;
        final MemorySegment scratch = exchange.scratch();
        MemorySegment.copy(handshake.heartbeat, 0, scratch, ValueLayout.JAVA_BYTE, 0, bytes);
        final int plainBytes = openFromGroup(handshake, scratch, 0, bytes, nowNs);
        if (plainBytes > 0) {
            onHeartbeat.onControl(scratch, 0, plainBytes, nowNs);
        }
        return 1;
    }

    @Override
    public long nextDeadlineNs() {
        return dueNs;
    }

    @Override
    public void close() {
        handshakes.close();
        exchange.close();
    }
}
