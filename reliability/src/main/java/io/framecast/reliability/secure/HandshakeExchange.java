package io.framecast.reliability.secure;

import io.framecast.reliability.crypto.Crypto;
import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.crypto.X25519;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A receiver's messages of handshakes: it sends HELLO and PROOF, takes COOKIE and ANSWER, and confirms keys.
///
/// One thread.
final class HandshakeExchange implements AutoCloseable {
    // A heartbeat may be forged, and name the address of another host.
    private static final int HELLO_BURST_MAX = 16;
    private static final long HELLO_INTERVAL_NS = 20_000_000;
    private static final long NEVER = Long.MAX_VALUE;

    private final SharedKeys keys;
    private final byte[] keyId;
    private final Crypto crypto;
    private final byte[] address;
    private final HandshakeOutput output;
    private final ControlSealer sealer;
    private final SourceHandshakes handshakes;
    private final X25519 curve;
    private final AnswerBudget helloBudget = new AnswerBudget(HELLO_BURST_MAX, HELLO_INTERVAL_NS);
    private final Arena arena = Arena.ofShared();
    private final MemorySegment scratch = arena.allocate(Wire.CONTROL_BYTES_MAX, Long.BYTES);
    private long plainCounter;

    /// @param keys the shared key, valid until this is closed
    /// @param address this receiver's control address
    HandshakeExchange(
            final SharedKeys keys,
            final Crypto crypto,
            final byte[] address,
            final HandshakeOutput output,
            final ControlSealer sealer,
            final SourceHandshakes handshakes) {
        this.keys = keys;
        this.crypto = crypto;
        this.address = address.clone();
        this.output = output;
        this.sealer = sealer;
        this.handshakes = handshakes;
        curve = crypto.curve();
        keyId = keys.id().getBytes(StandardCharsets.US_ASCII);
    }

    /// Memory for one control datagram.
    MemorySegment scratch() {
        return scratch;
    }

    /// A plain control datagram to this receiver.
    ///
    /// @param handshake of its session; null where there is none
    /// @return the time at which there is work because of it
    long onPlain(
            final @Nullable SourceHandshake handshake,
            final MemorySegment memory,
            final long offset,
            final int bytes,
            final long nowNs) {
        final int type = ControlLayout.type(memory, offset);
        if (type != ControlLayout.TYPE_COOKIE && type != ControlLayout.TYPE_ANSWER) {
            return drop(ProtectionEvent.PLAIN);
        }
        if (handshake == null || ControlLayout.RECEIVER.get(memory, offset) != (long) handshake.id << 32) {
            return drop(ProtectionEvent.NO_KEY);
        }
        final boolean isCookie = type == ControlLayout.TYPE_COOKIE;
        if (bytes != (isCookie ? HandshakeLayout.COOKIE_BYTES : HandshakeLayout.ANSWER_BYTES)) {
            return drop(ProtectionEvent.MALFORMED);
        }
        if (handshake.isAgreed()) {
            return drop(ProtectionEvent.REPLAYED);
        }
        return isCookie ? onCookie(handshake, memory, offset, nowNs) : onAnswer(handshake, memory, offset, nowNs);
    }

    private long drop(final ProtectionEvent reason) {
        sealer.count(reason);
        return NEVER;
    }

    private long onCookie(
            final SourceHandshake handshake, final MemorySegment memory, final long offset, final long nowNs) {
        if (!handshake.onCookie(Wire.bytes(memory, offset + HandshakeLayout.COOKIE, 32), nowNs)) {
            return drop(ProtectionEvent.LIMITED);
        }
        sealer.count(ProtectionEvent.HANDSHAKE);
        return ask(handshake, nowNs);
    }

    /// Sends HELLO or PROOF.
    ///
    /// @return the time of the next attempt
    long ask(final SourceHandshake handshake, final long nowNs) {
        final boolean isHello = handshake.isHelloDue();
        handshake.timer.onAttempt(nowNs);
        if (isHello && !helloBudget.take(nowNs)) {
            sealer.count(ProtectionEvent.LIMITED);
            return handshake.timer.dueNs();
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
        return handshake.timer.dueNs();
    }

    private void writeContent(final SourceHandshake handshake, final int type) {
        begin(type, handshake);
        HandshakeLayout.write(scratch, handshake.challenge, handshake.publicKey, keyId, address);
    }

    private void begin(final int type, final SourceHandshake handshake) {
        HandshakeLayout.begin(scratch, type, handshake.session, handshake.id, ++plainCounter);
    }

    private long onAnswer(
            final SourceHandshake handshake, final MemorySegment memory, final long offset, final long nowNs) {
        final SecretBytes privateKey = handshake.privateKey();
        if (privateKey == null) {
            return NEVER;
        }
        writeContent(handshake, ControlLayout.TYPE_HELLO);
        final byte[] publicKey = Wire.bytes(memory, offset + HandshakeLayout.PUBLIC_KEY, X25519.KEY_BYTES);
        final byte[] transcript = KeySchedule.transcript(
                HandshakeLayout.content(scratch, 0),
                Wire.bytes(memory, offset + HandshakeLayout.CHALLENGE, HandshakeLayout.CHALLENGE_BYTES),
                publicKey);
        final byte[] tag = Wire.bytes(memory, offset + HandshakeLayout.ANSWER_TAG, 32);
        if (!KeySchedule.matches(KeySchedule.answerTag(keys.key(), transcript), tag)) {
            return drop(ProtectionEvent.BAD_PROOF);
        }
        try (SecretBytes agreed = curve.agree(privateKey, publicKey)) {
            if (agreed == null) {
                return drop(ProtectionEvent.WEAK_KEY);
            }
            final KeySchedule.PairKeys pair = KeySchedule.pair(keys.key(), agreed, transcript);
            final ControlKey toSource = MemberHandshake.toSource(crypto, pair);
            final ControlKey toMember = MemberHandshake.toMember(crypto, pair);
            if (!isAnswerOpened(toMember, memory, offset)) {
                toSource.close();
                toMember.close();
                return drop(ProtectionEvent.BAD_TAG);
            }
            handshakes.trim();
            handshake.agree(toSource, toMember);
            handshake.use(nowNs);
            takeEpochs(handshake, memory, offset);
            sealer.count(ProtectionEvent.AGREED);
            // The heartbeat that began it can be verified.
            return nowNs;
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

    /// Confirms the keys of an epoch to a source with which this receiver agreed.
    void acknowledge(final SourceHandshake handshake, final int epoch) {
        final ControlKey toSource = Objects.requireNonNull(handshake.toSource);
        begin(ControlLayout.TYPE_KEYS_ACK, handshake);
        KeysLayout.EPOCH.set(scratch, 0, epoch);
        final int bytes = sealer.seal(toSource, EpochKeys.NONE, scratch, KeysLayout.ACK_BYTES);
        if (bytes > 0) {
            output.send(handshake.sourceAddress, scratch, bytes);
        }
    }

    @Override
    public void close() {
        scratch.fill((byte) 0);
        arena.close();
    }
}
