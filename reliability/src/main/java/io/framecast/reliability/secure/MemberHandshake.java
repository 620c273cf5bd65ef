package io.framecast.reliability.secure;

import io.framecast.reliability.crypto.Crypto;
import io.framecast.reliability.flow.RetryTimer;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/// A receiver that has proven its key to the source: its handshake, and the keys of the pair.
///
/// One thread. It owns the keys.
final class MemberHandshake implements AutoCloseable {
    private static final long KEYS_FIRST_NS = 20_000_000;
    private static final long KEYS_MOST_NS = 320_000_000;
    // About ten seconds.
    private static final int KEYS_ATTEMPTS_MAX = 36;

    final int id;
    final byte[] address;
    /// The id of the shared key that it proved.
    final String keyId;
    final Answer answer;
    final ControlKey toSource;
    final ControlKey toMember;
    final RetryTimer keysTimer = new RetryTimer(KEYS_FIRST_NS, KEYS_MOST_NS, KEYS_ATTEMPTS_MAX);
    private final byte[] content;
    final long begunNs;
    /// The newest epoch that it is known to have.
    int epoch;

    /// The source's part of the handshake, as in ANSWER.
    record Answer(byte[] challenge, byte[] publicKey, byte[] tag) {}

    /// @param memory with a valid PROOF
    /// @param keys of the pair
    MemberHandshake(
            final MemorySegment memory,
            final long offset,
            final Answer answer,
            final Crypto crypto,
            final KeySchedule.PairKeys keys,
            final long nowNs) {
        id = HandshakeLayout.handshakeId(memory, offset);
        content = HandshakeLayout.content(memory, offset);
        address = HandshakeLayout.ADDRESS.read(memory, offset);
        keyId = HandshakeLayout.keyId(memory, offset);
        this.answer = answer;
        toSource = toSource(crypto, keys);
        toMember = toMember(crypto, keys);
        begunNs = nowNs;
    }

    static ControlKey toSource(final Crypto crypto, final KeySchedule.PairKeys keys) {
        return new ControlKey(crypto, keys.toSource(), ControlNonce.MEMBER_TO_SOURCE);
    }

    static ControlKey toMember(final Crypto crypto, final KeySchedule.PairKeys keys) {
        return new ControlKey(crypto, keys.toMember(), ControlNonce.SOURCE_TO_MEMBER);
    }

    /// Whether a PROOF is the one that began this handshake.
    boolean isOf(final byte[] given) {
        return Arrays.equals(content, given);
    }

    /// Time of its last datagram that was verified.
    long usedNs() {
        return Math.max(begunNs, toSource.usedNs());
    }

    @Override
    public void close() {
        toSource.close();
        toMember.close();
    }
}
