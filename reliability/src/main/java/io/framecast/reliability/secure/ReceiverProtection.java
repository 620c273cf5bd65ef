package io.framecast.reliability.secure;

import io.framecast.reliability.crypto.Crypto;
import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.crypto.X25519;
import io.framecast.reliability.lane.ControlProtection;
import io.framecast.reliability.memory.Words;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;
import java.util.random.RandomGenerator;
import org.agrona.collections.Long2ObjectHashMap;
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

    // A handshake that got no answer for so long loses its place to another.
    private static final long SILENT_NS = 500_000_000;
    // Heartbeats of an epoch that is unknown for so long: this receiver missed its keys.
    private static final long MISSED_NS = 2_000_000_000;
    private static final int SENDER_BURST_MAX = 64;
    // A heartbeat may be forged, and name the address of another host.
    private static final int HELLO_BURST_MAX = 16;
    private static final long HELLO_INTERVAL_NS = 20_000_000;
    // A handshake that lasts longer may give way, as one with a stranger that answers HELLO by a cookie and nothing
    // else.
    private static final long SLOW_NS = 1_000_000_000;
    // No announcement is of it.
    private static final long NO_SESSION = 0;
    // A key that is derived in vain is closed again, which stops other threads for a moment.
    private static final long SENDER_INTERVAL_NS = 10_000_000;

    private final SharedKeys keys;
    private final byte[] keyId;
    private final Crypto crypto;
    private final byte[] address;
    private final long previousNs;
    private final RandomGenerator random;
    private final HandshakeOutput output;
    private final Heartbeats onHeartbeat;
    private final Counts<ProtectionEvent> counts = new Counts<>(ProtectionEvent.class);
    private final ControlSealer sealer = new ControlSealer(counts);
    private final X25519 curve;
    // Keys of unknown senders that are derived before their datagrams are verified.
    private final AnswerBudget senderBudget = new AnswerBudget(SENDER_BURST_MAX, SENDER_INTERVAL_NS);
    private final AnswerBudget helloBudget = new AnswerBudget(HELLO_BURST_MAX, HELLO_INTERVAL_NS);
    private final Arena arena = Arena.ofShared();
    private final MemorySegment scratch = arena.allocate(Wire.CONTROL_BYTES_MAX, Long.BYTES);
    private final Long2ObjectHashMap<SourceHandshake> bySession = new Long2ObjectHashMap<>();
    private final List<SourceHandshake> handshakes = new ArrayList<>();
    private LongPredicate isJoined = _ -> false;
    private long sender;
    private long refused = NO_SESSION;
    private long plainCounter;
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
        this.keys = keys;
        this.crypto = crypto;
        curve = crypto.curve();
        this.address = address.clone();
        this.previousNs = previousNs;
        this.random = random;
        this.output = output;
        this.onHeartbeat = onHeartbeat;
        keyId = keys.id().getBytes(StandardCharsets.US_ASCII);
    }

    /// Before the first datagram: a session of which this holds keeps its keys though the source's heartbeats are of an
    /// epoch that it missed. Its receiver hears nothing then, and takes the source for lost; [#forget] follows.
    public void keepWhere(final LongPredicate joined) {
        isJoined = joined;
    }

    public Counts<ProtectionEvent> counts() {
        return counts;
    }

    /// Whether there are keys of a session.
    public boolean hasKeys(final long session) {
        return agreed(session) != null;
    }

    /// Where there are no keys of a session: begins a handshake with its source, whose address is known, unless one is
    /// under way.
    ///
    /// @param sourceAddress its control address
    /// @return whether there are keys
    public boolean agree(final long session, final byte[] sourceAddress, final long nowNs) {
        final SourceHandshake known = bySession.get(session);
        if (known == null && hasRoom(nowNs)) {
            final SourceHandshake made = begin(session, nowNs);
            made.sourceAddress = sourceAddress;
        }
        return known != null && known.isAgreed();
    }

    private SourceHandshake begin(final long session, final long nowNs) {
        final SourceHandshake made = new SourceHandshake(session, newId(), curve, random, nowNs);
        handshakes.add(made);
        bySession.put(session, made);
        dueNs = Math.min(dueNs, made.timer.dueNs());
        return made;
    }

    /// Nothing of a session is opened, and no handshake with its source begins, until [#forget]: its membership goes on
    /// without keys, and must not live by heartbeats while no data can be opened.
    public void refuse(final long session) {
        forget(session);
        refused = session;
    }

    /// A new receiver's id in a session: the handshake's number and a random one.
    ///
    /// @return 0 where there are no keys of the session
    public long receiverId(final long session, final RandomGenerator ids) {
        final SourceHandshake handshake = agreed(session);
        if (handshake == null) {
            return 0;
        }
        int low = ids.nextInt();
        while (low == 0) {
            low = ids.nextInt();
        }
        return (long) handshake.id << 32 | Integer.toUnsignedLong(low);
    }

    /// Keys of a session's data.
    ///
    /// @return null where there are none; otherwise one until [#forget]
    public @Nullable DataKeys dataKeys(final long session) {
        final SourceHandshake handshake = agreed(session);
        return handshake == null ? null : handshake.keys;
    }

    /// Wipes the keys of a session: it is over, or its source does not answer and may know this receiver no more. The
    /// next heartbeat of the session begins a handshake.
    public void forget(final long session) {
        refused = refused == session ? NO_SESSION : refused;
        final SourceHandshake removed = bySession.remove(session);
        if (removed != null) {
            handshakes.remove(removed);
            removed.close();
        }
    }

    /// Id of the member that sent the last datagram that was opened; 0 where that was the source.
    public long sender() {
        return sender;
    }

    private @Nullable SourceHandshake agreed(final long session) {
        final SourceHandshake handshake = bySession.get(session);
        return handshake != null && handshake.isAgreed() ? handshake : null;
    }

    // Sealing.

    /// Seals nothing: a receiver sends to one at a time.
    @Override
    public int sealToGroup(final MemorySegment datagram, final int bytes) {
        return sealer.count(ProtectionEvent.UNSEALED);
    }

    @Override
    public int sealToPeer(final MemorySegment datagram, final int bytes) {
        final SourceHandshake handshake = agreed(ControlLayout.SESSION.get(datagram, 0));
        if (handshake == null
                || handshake.toSource == null
                || HandshakeLayout.handshakeId(datagram, 0) != handshake.id) {
            return sealer.count(ProtectionEvent.UNSEALED);
        }
        return sealer.seal(handshake.toSource, EpochKeys.NONE, datagram, bytes);
    }

    @Override
    public int sealToMember(final MemorySegment datagram, final int bytes, final long senderId) {
        final SourceHandshake handshake = agreed(ControlLayout.SESSION.get(datagram, 0));
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
        if (session == refused && session != NO_SESSION) {
            return sealer.count(ProtectionEvent.NO_KEY);
        }
        final SourceHandshake handshake = bySession.get(session);
        final int trailer = ControlLayout.TAG_BYTES.get(memory, offset);
        sender = 0;
        if (trailer == 0) {
            return onPlain(handshake, memory, offset, bytes, nowNs);
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
            acknowledge(handshake, epoch);
        } else {
            counts.add(ProtectionEvent.REPLAYED);
        }
    }

    private void acknowledge(final SourceHandshake handshake, final int epoch) {
        begin(ControlLayout.TYPE_KEYS_ACK, handshake);
        KeysLayout.EPOCH.set(scratch, 0, epoch);
        final int bytes = sealToPeer(scratch, KeysLayout.ACK_BYTES);
        if (bytes > 0) {
            output.send(handshake.sourceAddress, scratch, bytes);
        }
    }

    private void begin(final int type, final SourceHandshake handshake) {
        ControlLayout.begin(scratch, type);
        ControlLayout.SESSION.set(scratch, 0, handshake.session);
        ControlLayout.RECEIVER.set(scratch, 0, (long) handshake.id << 32);
        ControlLayout.EPOCH.set(scratch, 0, 0);
        ControlLayout.FLAGS.set(scratch, 0, 0);
        ControlLayout.COUNTER.set(scratch, 0, ++plainCounter);
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
            if (!hasRoom(nowNs)) {
                counts.add(ProtectionEvent.LIMITED);
                return;
            }
            handshake = begin(session, nowNs);
        }
        Words.copy(memory, offset, handshake.heartbeat, 0, bytes);
        handshake.heartbeatBytes = bytes;
        dueNs = Math.min(dueNs, handshake.timer.dueNs());
    }

    private int newId() {
        int id = random.nextInt();
        while (id == 0) {
            id = random.nextInt();
        }
        return id;
    }

    // Heartbeats of strangers take the place of a handshake under way, never of keys.
    private boolean hasRoom(final long nowNs) {
        int under = 0;
        SourceHandshake silent = null;
        SourceHandshake slow = null;
        for (int i = 0; i < handshakes.size(); i++) {
            final SourceHandshake other = handshakes.get(i);
            if (!other.isAgreed()) {
                under++;
                if (other.cookie == null && (silent == null || other.begunNs < silent.begunNs)) {
                    silent = other;
                }
                slow = slow == null || other.begunNs < slow.begunNs ? other : slow;
            }
        }
        if (under < PENDING_MAX) {
            return true;
        }
        if (silent != null && nowNs - silent.begunNs >= SILENT_NS) {
            displace(silent);
            return true;
        }
        if (slow != null && nowNs - slow.begunNs >= SLOW_NS) {
            displace(slow);
            return true;
        }
        return false;
    }

    private void displace(final SourceHandshake displaced) {
        counts.add(ProtectionEvent.DISPLACED);
        forget(displaced.session);
    }

    // Called before one more has keys.
    private void trim() {
        int agreed = 0;
        SourceHandshake unused = null;
        for (int i = 0; i < handshakes.size(); i++) {
            final SourceHandshake other = handshakes.get(i);
            if (other.isAgreed()) {
                agreed++;
                unused = unused == null || other.usedNs() < unused.usedNs() ? other : unused;
            }
        }
        if (unused != null && agreed >= SESSIONS_MAX) {
            displace(unused);
        }
    }

    private int onPlain(
            final @Nullable SourceHandshake handshake,
            final MemorySegment memory,
            final long offset,
            final int bytes,
            final long nowNs) {
        final int type = ControlLayout.type(memory, offset);
        if (type != ControlLayout.TYPE_COOKIE && type != ControlLayout.TYPE_ANSWER) {
            return sealer.count(ProtectionEvent.PLAIN);
        }
        if (handshake == null || ControlLayout.RECEIVER.get(memory, offset) != (long) handshake.id << 32) {
            return sealer.count(ProtectionEvent.NO_KEY);
        }
        final boolean isCookie = type == ControlLayout.TYPE_COOKIE;
        if (bytes != (isCookie ? HandshakeLayout.COOKIE_BYTES : HandshakeLayout.ANSWER_BYTES)) {
            return sealer.count(ProtectionEvent.MALFORMED);
        }
        if (handshake.isAgreed()) {
            return sealer.count(ProtectionEvent.REPLAYED);
        }
        if (isCookie) {
            onCookie(handshake, memory, offset, nowNs);
        } else {
            onAnswer(handshake, memory, offset, nowNs);
        }
        return 0;
    }

    private void onCookie(
            final SourceHandshake handshake, final MemorySegment memory, final long offset, final long nowNs) {
        if (!handshake.onCookie(Wire.bytes(memory, offset + HandshakeLayout.COOKIE, 32), nowNs)) {
            counts.add(ProtectionEvent.LIMITED);
            return;
        }
        counts.add(ProtectionEvent.HANDSHAKE);
        ask(handshake, nowNs);
    }

    // Sends HELLO or PROOF.
    private void ask(final SourceHandshake handshake, final long nowNs) {
        final boolean isHello = handshake.isHelloDue();
        handshake.timer.onAttempt(nowNs);
        dueNs = Math.min(dueNs, handshake.timer.dueNs());
        if (isHello && !helloBudget.take(nowNs)) {
            counts.add(ProtectionEvent.LIMITED);
            return;
        }
        if (handshake.heartbeatBytes > 0) {
            // Heartbeats may be forged: the last one counts, and the source's own come as often as forged ones.
            handshake.sourceAddress =
                    HeartbeatLayout.CONTROL_ADDRESS.read(MemorySegment.ofArray(handshake.heartbeat), 0);
        }
        writeContent(handshake, isHello ? ControlLayout.TYPE_HELLO : ControlLayout.TYPE_PROOF);
        final byte[] cookie = handshake.cookie;
        int bytes = HandshakeLayout.HELLO_BYTES;
        if (isHello || cookie == null) {
            Wire.zero(scratch, HandshakeLayout.CONTENT_END, HandshakeLayout.HELLO_BYTES - HandshakeLayout.CONTENT_END);
        } else {
            bytes = HandshakeLayout.PROOF_BYTES;
            final byte[] content = HandshakeLayout.content(scratch, 0);
            HandshakeLayout.put(scratch, HandshakeLayout.PROOF_COOKIE, cookie);
            HandshakeLayout.put(scratch, HandshakeLayout.PROOF_TAG, KeySchedule.proofTag(keys.key(), content, cookie));
        }
        output.send(handshake.sourceAddress, scratch, sealer.complete(scratch, bytes));
    }

    private void writeContent(final SourceHandshake handshake, final int type) {
        begin(type, handshake);
        HandshakeLayout.write(scratch, handshake.challenge, handshake.publicKey, keyId, address);
    }

    private void onAnswer(
            final SourceHandshake handshake, final MemorySegment memory, final long offset, final long nowNs) {
        final SecretBytes privateKey = handshake.privateKey();
        if (privateKey == null) {
            return;
        }
        writeContent(handshake, ControlLayout.TYPE_HELLO);
        final byte[] publicKey = Wire.bytes(memory, offset + HandshakeLayout.PUBLIC_KEY, X25519.KEY_BYTES);
        final byte[] transcript = KeySchedule.transcript(
                HandshakeLayout.content(scratch, 0),
                Wire.bytes(memory, offset + HandshakeLayout.CHALLENGE, HandshakeLayout.CHALLENGE_BYTES),
                publicKey);
        final byte[] tag = Wire.bytes(memory, offset + HandshakeLayout.ANSWER_TAG, 32);
        if (!KeySchedule.matches(KeySchedule.answerTag(keys.key(), transcript), tag)) {
            counts.add(ProtectionEvent.BAD_PROOF);
            return;
        }
        try (SecretBytes agreed = curve.agree(privateKey, publicKey)) {
            if (agreed == null) {
                counts.add(ProtectionEvent.WEAK_KEY);
                return;
            }
            final KeySchedule.PairKeys pair = KeySchedule.pair(keys.key(), agreed, transcript);
            final ControlKey toSource = MemberHandshake.toSource(crypto, pair);
            final ControlKey toMember = MemberHandshake.toMember(crypto, pair);
            if (isAnswerOpened(toMember, memory, offset)) {
                trim();
                handshake.agree(toSource, toMember);
                handshake.use(nowNs);
                takeEpochs(handshake, memory, offset);
                counts.add(ProtectionEvent.AGREED);
                dueNs = nowNs;
            } else {
                counts.add(ProtectionEvent.BAD_TAG);
                toSource.close();
                toMember.close();
            }
        }
    }

    private void takeEpochs(final SourceHandshake handshake, final MemorySegment memory, final long offset) {
        final EpochKeys before = EpochKeys.read(crypto, memory, offset + HandshakeLayout.ANSWER_BEFORE);
        final EpochKeys inUse = EpochKeys.read(crypto, memory, offset + HandshakeLayout.ANSWER_SEALED);
        if (EpochKeys.low(before.epoch()) == EpochKeys.NONE) {
            before.close();
        } else {
            before.end();
            before.endDataAt(HandshakeLayout.ANSWER_BEFORE_END.get(memory, offset));
            handshake.add(before);
        }
        handshake.add(inUse);
        handshake.keys.change(inUse.epoch());
    }

    private static boolean isAnswerOpened(final ControlKey key, final MemorySegment memory, final long offset) {
        final long counter = ControlLayout.COUNTER.get(memory, offset);
        ControlLayout.CHECKSUM.set(memory, offset, 0);
        if (!key.window().isNew(counter)
                || !key.aead()
                        .open(
                                ControlNonce.ANSWER.lane(),
                                counter,
                                memory,
                                offset,
                                HandshakeLayout.ANSWER_SEALED,
                                HandshakeLayout.ANSWER_SEAL - HandshakeLayout.ANSWER_SEALED,
                                offset + HandshakeLayout.ANSWER_SEAL)) {
            return false;
        }
        key.window().accept(counter);
        return true;
    }

    @Override
    public int doWork(final long nowNs) {
        if (nowNs < dueNs) {
            return 0;
        }
        int work = 0;
        dueNs = Long.MAX_VALUE;
        for (int i = handshakes.size() - 1; i >= 0; i--) {
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
                    ask(handshake, nowNs);
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
        handshakes.forEach(SourceHandshake::close);
        handshakes.clear();
        bySession.clear();
        scratch.fill((byte) 0);
        arena.close();
    }
}
