package io.framecast.reliability.secure;

import io.framecast.reliability.crypto.Crypto;
import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.crypto.X25519;
import io.framecast.reliability.lane.ControlProtection;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.Counts;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// The source's end of protected control datagrams. It answers the handshakes of receivers, keeps the keys of
/// each receiver that proved its own, makes the keys of group and data, and changes them.
///
/// It keeps nothing of a receiver that has not yet proven its address and its key, in this order; each step has a
/// limit of answers. The table of handshakes is bounded.
///
/// Threading: one thread. Ownership: it owns all keys it makes; the caller owns the shared ones.
public final class SourceProtection implements ControlProtection {
    /// HELLOs and PROOFs that are answered at once.
    public static final int BURST_MAX = 64;

    private static final long HELLO_INTERVAL_NS = 250_000;
    // A PROOF may cost a key file's reading, and two multiplications on the curve.
    private static final long PROOF_INTERVAL_NS = 1_000_000;
    // While the window still holds datagrams of two epochs.
    private static final long WINDOW_LOOK_NS = 1_000_000;
    // A receiver that is no member by then shakes hands again.
    private static final long JOINING_MAX_NS = 10_000_000_000L;

    private final long session;
    private final SharedKeys keys;
    private final Crypto crypto;
    private final RandomGenerator random;
    private final Counts<ProtectionEvent> counts = new Counts<>(ProtectionEvent.class);
    private final ControlSealer sealer = new ControlSealer(counts);
    private final X25519 curve;
    private final Cookies cookies;
    private final AnswerBudget helloBudget = new AnswerBudget(BURST_MAX, HELLO_INTERVAL_NS);
    private final AnswerBudget proofBudget = new AnswerBudget(BURST_MAX, PROOF_INTERVAL_NS);
    private final HandshakeAnswers answers;
    private final MemberHandshakes handshakes;
    private final DataKeys dataKeys = new DataKeys();
    private EpochKeys current;
    // Keys that members get before they are used.
    private @Nullable EpochKeys pending;
    private IntPredicate awaited = _ -> false;
    private BooleanSupplier mayUse = () -> true;
    private LongSupplier nextSequence = () -> 0;
    private long switchNs = Long.MAX_VALUE;
    // The first of the changes that were not used.
    private long rekeyedNs;
    private long dueNs = Long.MAX_VALUE;

    /// Makes a source's end.
    ///
    /// @param session nonce of the session
    /// @param keys shared keys, valid until this is closed
    /// @param crypto of control datagrams, which AES-GCM seals, and of the handshake
    /// @param handshakesMax handshakes that are kept, twice the members or more: a receiver that comes back has
    ///     two
    /// @param random of keys, a cryptographic one
    public SourceProtection(
            final long session,
            final SharedKeys keys,
            final Crypto crypto,
            final int handshakesMax,
            final RandomGenerator random,
            final HandshakeOutput output) {
        this.session = session;
        this.keys = keys;
        this.crypto = crypto;
        curve = crypto.curve();
        handshakes = new MemberHandshakes(handshakesMax);
        this.random = random;
        answers = new HandshakeAnswers(session, output, sealer);
        cookies = new Cookies(random);
        current = EpochKeys.random(crypto, EpochKeys.after(0), random);
        dataKeys.epochs().add(current);
        dataKeys.change(current.epoch());
    }

    /// Handshakes that are kept.
    public int handshakes() {
        return handshakes.count();
    }

    /// Whether a receiver's handshake is kept.
    ///
    /// @param handshakeId the high half of its receiver ids
    public boolean hasHandshake(final int handshakeId) {
        return handshakes.of(handshakeId) != null;
    }

    public Counts<ProtectionEvent> counts() {
        return counts;
    }

    /// Keys of the data; the epoch in them is the one to seal under.
    public DataKeys dataKeys() {
        return dataKeys;
    }

    /// Whether keys are on their way that are not used yet.
    public boolean isRekeying() {
        return pending != null;
    }

    // Sealing.

    @Override
    public int sealToGroup(final MemorySegment datagram, final int bytes) {
        if (ControlLayout.RECEIVER.get(datagram, 0) != 0) {
            // To all, because the source has no address of that receiver any more, which alone opens it.
            return sealToPeer(datagram, bytes);
        }
        return sealer.seal(current.group(), EpochKeys.low(current.epoch()), datagram, bytes);
    }

    @Override
    public int sealToPeer(final MemorySegment datagram, final int bytes) {
        if (ControlLayout.RECEIVER.get(datagram, 0) == 0) {
            // A frame's metadata go to one member as they go to all.
            return sealToGroup(datagram, bytes);
        }
        final MemberHandshake peer = handshakes.of(HandshakeLayout.handshakeId(datagram, 0));
        return peer == null
                ? sealer.count(ProtectionEvent.UNSEALED)
                : sealer.seal(peer.toMember, EpochKeys.NONE, datagram, bytes);
    }

    /// Seals nothing: a source is no member.
    @Override
    public int sealToMember(final MemorySegment datagram, final int bytes, final long senderId) {
        return sealer.count(ProtectionEvent.UNSEALED);
    }

    // Opening.

    @Override
    public int open(final MemorySegment memory, final long offset, final int bytes, final long nowNs) {
        if (!sealer.isSound(memory, offset, bytes)) {
            return 0;
        }
        if (ControlLayout.TAG_BYTES.get(memory, offset) == 0) {
            return onPlain(memory, offset, bytes, nowNs);
        }
        final MemberHandshake peer = ControlLayout.SESSION.get(memory, offset) == session
                        && ControlLayout.TAG_BYTES.get(memory, offset) == ControlSealer.TAG_ONLY
                        && ControlLayout.KEY_EPOCH.get(memory, offset) == EpochKeys.NONE
                ? handshakes.of(HandshakeLayout.handshakeId(memory, offset))
                : null;
        if (peer == null) {
            return sealer.count(ProtectionEvent.NO_KEY);
        }
        final int plainBytes = sealer.open(peer.toSource, memory, offset, bytes, nowNs);
        if (plainBytes > 0 && ControlLayout.type(memory, offset) == ControlLayout.TYPE_KEYS_ACK) {
            onKeysAck(peer, memory, offset, plainBytes, nowNs);
            return 0;
        }
        return plainBytes;
    }

    private int onPlain(final MemorySegment memory, final long offset, final int bytes, final long nowNs) {
        final int type = ControlLayout.type(memory, offset);
        final boolean isHello = type == ControlLayout.TYPE_HELLO;
        if (!isHello && type != ControlLayout.TYPE_PROOF) {
            return sealer.count(ProtectionEvent.PLAIN);
        }
        if (ControlLayout.SESSION.get(memory, offset) != session) {
            return sealer.count(ProtectionEvent.NO_KEY);
        }
        final int expected = isHello ? HandshakeLayout.HELLO_BYTES : HandshakeLayout.PROOF_BYTES;
        if (!HandshakeLayout.isHello(memory, offset, bytes, expected)) {
            return sealer.count(ProtectionEvent.MALFORMED);
        }
        if (isHello) {
            onHello(memory, offset, nowNs);
        } else {
            onProof(memory, offset, nowNs);
        }
        return 0;
    }

    private void onHello(final MemorySegment memory, final long offset, final long nowNs) {
        if (!helloBudget.take(nowNs)) {
            counts.add(ProtectionEvent.LIMITED);
            return;
        }
        counts.add(ProtectionEvent.HANDSHAKE);
        answers.sendCookie(memory, offset, cookies.of(HandshakeLayout.content(memory, offset), nowNs));
    }

    private void onProof(final MemorySegment memory, final long offset, final long nowNs) {
        final byte[] content = HandshakeLayout.content(memory, offset);
        final byte[] cookie = Wire.bytes(memory, offset + HandshakeLayout.PROOF_COOKIE, 32);
        if (!cookies.isGood(cookie, content, nowNs)) {
            counts.add(ProtectionEvent.BAD_COOKIE);
            return;
        }
        if (!proofBudget.take(nowNs)) {
            counts.add(ProtectionEvent.LIMITED);
            return;
        }
        try (SecretBytes shared = keys.find(HandshakeLayout.keyId(memory, offset))) {
            if (shared == null) {
                counts.add(ProtectionEvent.UNKNOWN_KEY);
                return;
            }
            final byte[] tag = Wire.bytes(memory, offset + HandshakeLayout.PROOF_TAG, 32);
            if (!KeySchedule.matches(KeySchedule.proofTag(shared, content, cookie), tag)) {
                counts.add(ProtectionEvent.BAD_PROOF);
                return;
            }
            final MemberHandshake known = handshakes.of(HandshakeLayout.handshakeId(memory, offset));
            if (known != null && !known.isOf(content)) {
                // Another receiver has this number: the next handshake of this one has a new one.
                counts.add(ProtectionEvent.REPLAYED);
                return;
            }
            final MemberHandshake peer = known == null ? agree(shared, content, memory, offset, nowNs) : known;
            if (peer != null) {
                counts.add(ProtectionEvent.HANDSHAKE);
                answer(peer, nowNs);
            }
        }
    }

    // Null where the receiver's public key gives no secret.
    private @Nullable MemberHandshake agree(
            final SecretBytes shared,
            final byte[] content,
            final MemorySegment memory,
            final long offset,
            final long nowNs) {
        final byte[] theirs = Wire.bytes(memory, offset + HandshakeLayout.PUBLIC_KEY, X25519.KEY_BYTES);
        final byte[] challenge = new byte[HandshakeLayout.CHALLENGE_BYTES];
        random.nextBytes(challenge);
        try (SecretBytes privateKey = X25519.newPrivateKey(random);
                SecretBytes agreed = curve.agree(privateKey, theirs)) {
            if (agreed == null) {
                counts.add(ProtectionEvent.WEAK_KEY);
                return null;
            }
            final byte[] publicKey = curve.publicKey(privateKey);
            final byte[] transcript = KeySchedule.transcript(content, challenge, publicKey);
            final KeySchedule.PairKeys pair = KeySchedule.pair(shared, agreed, transcript);
            final MemberHandshake.Answer answer =
                    new MemberHandshake.Answer(challenge, publicKey, KeySchedule.answerTag(shared, transcript));
            final MemberHandshake made = new MemberHandshake(memory, offset, answer, crypto, pair, nowNs);
            keep(made);
            return made;
        }
    }

    private void keep(final MemberHandshake made) {
        if (handshakes.keep(made)) {
            counts.add(ProtectionEvent.DISPLACED);
            onRemoved();
        }
        counts.add(ProtectionEvent.AGREED);
    }

    private void answer(final MemberHandshake peer, final long nowNs) {
        if (answers.sendAnswer(peer, current, dataKeys.epochs().getFirst()) && peer.epoch == EpochKeys.NONE) {
            peer.epoch = current.epoch();
            if (pending != null) {
                await(peer, nowNs);
            }
        }
    }

    // Epochs.

    /// Removes a handshake and wipes its keys: no datagram of that receiver is opened any more, and it gets no
    /// new keys. Where each member has a key of its own, other handshakes under it that are no member's go too.
    /// [#rekey] follows, else the receiver still opens datagrams to the group.
    ///
    /// @param handshakeId the high half of its receiver ids
    /// @param members whether a handshake is a member's
    public void evict(final int handshakeId, final IntPredicate members) {
        final MemberHandshake evicted = handshakes.of(handshakeId);
        if (evicted == null) {
            return;
        }
        handshakes.remove(evicted);
        if (keys.isOfEach()) {
            handshakes.removeWhere(other -> other.keyId.equals(evicted.keyId) && !members.test(other.id));
        }
        onRemoved();
    }

    // Perhaps all other members have the next keys.
    private void onRemoved() {
        dueNs = pending == null ? dueNs : 0;
    }

    /// Before the first epoch ends: keys of the next one are used only where this holds, which must be when no
    /// datagram of the epoch before the current one can be repaired any more.
    ///
    /// @param next the first sequence that was not sealed yet
    public void useWhere(final BooleanSupplier condition, final LongSupplier next) {
        mayUse = condition;
        nextSequence = next;
    }

    /// Whether a key is half used up: [#rekey] should follow.
    public boolean isWorn() {
        return pending == null && current.group().count() > ControlKey.DATAGRAMS_MAX / 2;
    }

    /// Makes the next epoch's keys and sends them to all whose handshake is kept, until they acknowledge them.
    /// They are used once all members have them, or when the time is over; where changes follow one another,
    /// twice the time. Keys that were on their way are not used.
    ///
    /// It keeps no handshake of one whose key file is gone, nor of one that left, or did not join in ten seconds.
    ///
    /// @param limitNs time to wait for members, 0 to use the keys at once
    /// @param members whether a handshake is a member's that is waited for; asked until the keys are used
    public void rekey(final long nowNs, final long limitNs, final IntPredicate members) {
        handshakes.removeWhere(
                peer -> keys.isGone(peer.keyId) || (nowNs - peer.begunNs > JOINING_MAX_NS && !members.test(peer.id)));
        final EpochKeys before = pending == null ? current : pending;
        final EpochKeys next = EpochKeys.random(crypto, EpochKeys.after(before.epoch()), random);
        if (pending != null) {
            pending.close();
        } else {
            rekeyedNs = nowNs;
        }
        pending = next;
        awaited = members;
        switchNs = Math.min(nowNs + limitNs, rekeyedNs + 2 * limitNs);
        dueNs = nowNs;
        for (int i = 0; i < handshakes.count(); i++) {
            await(handshakes.get(i), nowNs);
        }
    }

    private void await(final MemberHandshake peer, final long nowNs) {
        peer.keysTimer.begin(nowNs);
        dueNs = Math.min(dueNs, nowNs);
    }

    private void onKeysAck(
            final MemberHandshake peer,
            final MemorySegment memory,
            final long offset,
            final int bytes,
            final long nowNs) {
        if (bytes != KeysLayout.ACK_BYTES) {
            counts.add(ProtectionEvent.MALFORMED);
            return;
        }
        counts.add(ProtectionEvent.HANDSHAKE);
        final int epoch = KeysLayout.EPOCH.get(memory, offset);
        if (epoch != owed(peer).epoch()) {
            return;
        }
        peer.epoch = epoch;
        if (epoch == newest().epoch()) {
            peer.keysTimer.stop();
            // Perhaps all have it.
            dueNs = 0;
        } else {
            await(peer, nowNs);
        }
    }

    // The keys that it is to get. The keys in use come before the next ones: without them it never opens the datagrams
    // that were sealed meanwhile.
    private EpochKeys owed(final MemberHandshake peer) {
        return peer.epoch != EpochKeys.NONE && peer.epoch - current.epoch() < 0 ? current : newest();
    }

    private EpochKeys newest() {
        return pending == null ? current : pending;
    }

    // The time is over, or all members have the keys.
    private boolean isUseDue(final EpochKeys next, final long nowNs) {
        return nowNs >= switchNs || handshakes.haveAll(next.epoch(), awaited);
    }

    private boolean useOncePossible(final long nowNs) {
        final EpochKeys next = pending;
        if (next == null || !isUseDue(next, nowNs) || !mayUse.getAsBoolean()) {
            return false;
        }
        final List<EpochKeys> kept = dataKeys.epochs();
        if (kept.size() > 1) {
            kept.removeFirst().close();
        }
        current.endDataAt(nextSequence.getAsLong());
        kept.add(next);
        current = next;
        pending = null;
        switchNs = Long.MAX_VALUE;
        awaited = _ -> false;
        dataKeys.change(current.epoch());
        counts.add(ProtectionEvent.REKEYED);
        return true;
    }

    @Override
    public int doWork(final long nowNs) {
        if (nowNs < dueNs) {
            return 0;
        }
        int work = useOncePossible(nowNs) ? 1 : 0;
        final EpochKeys next = pending;
        dueNs = next != null && isUseDue(next, nowNs) ? nowNs + WINDOW_LOOK_NS : switchNs;
        for (int i = 0; i < handshakes.count(); i++) {
            final MemberHandshake peer = handshakes.get(i);
            if (peer.keysTimer.isDue(nowNs)) {
                sendKeys(peer, nowNs);
                work++;
            }
            dueNs = Math.min(dueNs, peer.keysTimer.dueNs());
        }
        return work;
    }

    private void sendKeys(final MemberHandshake peer, final long nowNs) {
        if (peer.keysTimer.isExhausted()) {
            peer.keysTimer.stop();
            return;
        }
        peer.keysTimer.onAttempt(nowNs);
        answers.sendKeys(peer, owed(peer), current, dataKeys.epochs().getFirst());
    }

    @Override
    public long nextDeadlineNs() {
        return dueNs;
    }

    @Override
    public void close() {
        handshakes.close();
        if (pending != null) {
            pending.close();
            pending = null;
        }
        dataKeys.close();
        cookies.close();
        answers.close();
    }
}
