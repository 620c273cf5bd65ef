package io.framecast.reliability.secure;

import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A source's messages of handshakes and keys: COOKIE, ANSWER and KEYS.
///
/// One thread.
final class HandshakeAnswers implements AutoCloseable {
    private final long session;
    private final HandshakeOutput output;
    private final ControlSealer sealer;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment scratch = arena.allocate(Wire.CONTROL_BYTES_MAX, Long.BYTES);
    // Of the messages that no key seals.
    private long plainCounter;

    HandshakeAnswers(final long session, final HandshakeOutput output, final ControlSealer sealer) {
        this.session = session;
        this.output = output;
        this.sealer = sealer;
    }

    /// Sends a cookie to the receiver that sent a HELLO.
    void sendCookie(final MemorySegment memory, final long offset, final byte[] cookie) {
        final int id = HandshakeLayout.handshakeId(memory, offset);
        HandshakeLayout.begin(scratch, ControlLayout.TYPE_COOKIE, session, id, ++plainCounter);
        HandshakeLayout.put(scratch, HandshakeLayout.COOKIE, cookie);
        send(HandshakeLayout.ADDRESS.read(memory, offset), HandshakeLayout.COOKIE_BYTES);
    }

    private void send(final byte[] address, final int bytes) {
        output.send(address, scratch, sealer.complete(scratch, bytes));
    }

    /// Sends the keys in use to a receiver that has proven its own. The epoch before is among them: a receiver
    /// that goes on with a membership asks for repairs of its datagrams.
    ///
    /// @param before the keys in use where there is no epoch before
    /// @return false where the key of the pair was used too often
    boolean sendAnswer(final MemberHandshake peer, final EpochKeys inUse, final EpochKeys before) {
        final long counter = peer.toMember.nextCounter();
        if (counter == 0) {
            sealer.count(ProtectionEvent.EXHAUSTED);
            return false;
        }
        HandshakeLayout.begin(scratch, ControlLayout.TYPE_ANSWER, session, peer.id, counter);
        ControlLayout.DATAGRAM_BYTES.set(scratch, 0, HandshakeLayout.ANSWER_BYTES);
        ControlLayout.CHECKSUM.set(scratch, 0, 0);
        HandshakeLayout.put(scratch, HandshakeLayout.CHALLENGE, peer.answer.challenge());
        HandshakeLayout.put(scratch, HandshakeLayout.PUBLIC_KEY, peer.answer.publicKey());
        HandshakeLayout.put(scratch, HandshakeLayout.ANSWER_TAG, peer.answer.tag());
        writeEpochs(inUse, before);
        peer.toMember
                .aead()
                .seal(
                        ControlNonce.ANSWER.lane(),
                        counter,
                        scratch,
                        0,
                        HandshakeLayout.ANSWER_SEALED,
                        HandshakeLayout.ANSWER_SEAL - HandshakeLayout.ANSWER_SEALED,
                        HandshakeLayout.ANSWER_SEAL);
        send(peer.address, HandshakeLayout.ANSWER_BYTES);
        return true;
    }

    private void writeEpochs(final EpochKeys inUse, final EpochKeys before) {
        inUse.write(scratch, HandshakeLayout.ANSWER_SEALED);
        if (before == inUse) {
            Wire.zero(scratch, HandshakeLayout.ANSWER_BEFORE, KeysLayout.EPOCH_BYTES);
            HandshakeLayout.ANSWER_BEFORE_END.set(scratch, 0, 0);
        } else {
            before.write(scratch, HandshakeLayout.ANSWER_BEFORE);
            HandshakeLayout.ANSWER_BEFORE_END.set(scratch, 0, before.dataEnd());
        }
    }

    /// Sends the keys of an epoch to a member.
    ///
    /// @param before the keys in use where there is no epoch before
    void sendKeys(final MemberHandshake peer, final EpochKeys given, final EpochKeys inUse, final EpochKeys before) {
        HandshakeLayout.begin(scratch, ControlLayout.TYPE_KEYS, session, peer.id, 0);
        given.write(scratch, ControlLayout.LENGTH);
        KeysLayout.IN_USE.set(scratch, 0, inUse.epoch());
        KeysLayout.BEFORE.set(scratch, 0, before == inUse ? EpochKeys.NONE : before.epoch());
        final int bytes = sealer.seal(peer.toMember, EpochKeys.NONE, scratch, KeysLayout.KEYS_BYTES);
        if (bytes > 0) {
            output.send(peer.address, scratch, bytes);
        } else {
            scratch.fill((byte) 0);
        }
    }

    @Override
    public void close() {
        scratch.fill((byte) 0);
        arena.close();
    }
}
