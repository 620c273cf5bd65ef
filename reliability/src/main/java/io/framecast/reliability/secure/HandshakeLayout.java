package io.framecast.reliability.secure;

import io.framecast.reliability.crypto.Hkdf;
import io.framecast.reliability.crypto.X25519;
import io.framecast.reliability.memory.Words;
import io.framecast.reliability.wire.AddressField;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.LongField;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/// The four messages of the handshake, none of which is sealed. In each the header's receiver is the handshake's id in
/// the high half and 0 in the low one.
///
/// ```
///  HELLO   receiver → source  40 challenge (32)  72 X25519 public key (32)  104 key's id: length u8, up to 64 bytes
///                             169 the receiver's control address (1 + 32)  202 zeros, up to 1200
///  COOKIE  source → receiver  40 cookie (32)
///  PROOF   receiver → source  40 … 201 as HELLO  202 cookie (32)  234 tag (32)
///  ANSWER  source → receiver  40 challenge (32)  72 X25519 public key (32)  104 tag (32)
///                             136 sealed: as KEYS from 40 on (68), of the epoch in use
///                             204 the same of the one before, or zeros
///                             272 end of the one before u64: the first sequence that is not of it
///                             280 tag of 136 … 279 (16)
/// ```
final class HandshakeLayout {
    static final int CHALLENGE_BYTES = 32;
    static final int KEY_ID_BYTES_MAX = 64;
    /// Length of the fields that HELLO and PROOF have in common, with session and receiver in front.
    static final int CONTENT_BYTES = 2 * Long.BYTES + 162;

    static final int CHALLENGE = ControlLayout.LENGTH;
    static final int PUBLIC_KEY = CHALLENGE + CHALLENGE_BYTES;
    static final int KEY_ID = PUBLIC_KEY + X25519.KEY_BYTES;
    static final AddressField ADDRESS = new AddressField(KEY_ID + 1 + KEY_ID_BYTES_MAX);
    static final int CONTENT_END = ADDRESS.at() + AddressField.LENGTH;
    static final int HELLO_BYTES = Wire.CONTROL_BYTES_MAX;

    static final int COOKIE = ControlLayout.LENGTH;
    static final int COOKIE_BYTES = COOKIE + Hkdf.HASH_BYTES;

    static final int PROOF_COOKIE = CONTENT_END;
    static final int PROOF_TAG = PROOF_COOKIE + Hkdf.HASH_BYTES;
    static final int PROOF_BYTES = PROOF_TAG + Hkdf.HASH_BYTES;

    static final int ANSWER_TAG = PUBLIC_KEY + X25519.KEY_BYTES;
    static final int ANSWER_SEALED = ANSWER_TAG + Hkdf.HASH_BYTES;
    static final int ANSWER_BEFORE = ANSWER_SEALED + KeysLayout.EPOCH_BYTES;
    static final LongField ANSWER_BEFORE_END = new LongField(ANSWER_BEFORE + KeysLayout.EPOCH_BYTES);
    static final int ANSWER_SEAL = ANSWER_BEFORE_END.at() + Long.BYTES;
    static final int ANSWER_BYTES = ANSWER_SEAL + 16;

    private static final int SESSION = 8;

    private HandshakeLayout() {}

    /// Whether a sound datagram may be read as HELLO or PROOF.
    static boolean isHello(final MemorySegment memory, final long offset, final int bytes, final int expected) {
        return bytes == expected
                && handshakeId(memory, offset) != 0
                && (int) ControlLayout.RECEIVER.get(memory, offset) == 0
                && ADDRESS.isValid(memory, offset)
                && isKeyId(memory, offset + KEY_ID);
    }

    /// The handshake's id of any datagram of a receiver, or to one.
    static int handshakeId(final MemorySegment memory, final long offset) {
        return (int) (ControlLayout.RECEIVER.get(memory, offset) >>> 32);
    }

    // The characters of key files, and no leading dot: an id names a file.
    private static boolean isKeyId(final MemorySegment memory, final long at) {
        final int length = Words.getByte(memory, at) & 0xff;
        if (length == 0 || length > KEY_ID_BYTES_MAX || Words.getByte(memory, at + 1) == '.') {
            return false;
        }
        for (int i = 0; i < KEY_ID_BYTES_MAX; i++) {
            final int c = Words.getByte(memory, at + 1 + i);
            if (i >= length ? c != 0 : !isKeyIdCharacter(c)) {
                return false;
            }
        }
        return true;
    }

    static boolean isKeyIdCharacter(final int c) {
        return (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || (c >= '0' && c <= '9')
                || c == '.'
                || c == '_'
                || c == '-';
    }

    /// Allocates.
    static String keyId(final MemorySegment memory, final long offset) {
        final int length = Words.getByte(memory, offset + KEY_ID) & 0xff;
        return new String(Wire.bytes(memory, offset + KEY_ID + 1, length), StandardCharsets.US_ASCII);
    }

    /// Session, receiver, and the fields that HELLO and PROOF have in common. Allocates.
    static byte[] content(final MemorySegment memory, final long offset) {
        final byte[] content = new byte[CONTENT_BYTES];
        Words.copy(memory, offset + SESSION, content, 0, 2 * Long.BYTES);
        Words.copy(memory, offset + CHALLENGE, content, 2 * Long.BYTES, CONTENT_END - CHALLENGE);
        return content;
    }

    /// Begins a datagram of a handshake.
    static void begin(
            final MemorySegment datagram, final int type, final long session, final int id, final long counter) {
        ControlLayout.begin(datagram, type);
        ControlLayout.SESSION.set(datagram, 0, session);
        ControlLayout.RECEIVER.set(datagram, 0, (long) id << 32);
        ControlLayout.EPOCH.set(datagram, 0, 0);
        ControlLayout.FLAGS.set(datagram, 0, 0);
        ControlLayout.COUNTER.set(datagram, 0, counter);
    }

    static void put(final MemorySegment datagram, final int at, final byte[] bytes) {
        MemorySegment.copy(bytes, 0, datagram, ValueLayout.JAVA_BYTE, at, bytes.length);
    }

    /// Writes the fields that HELLO and PROOF have in common, behind the header.
    static void write(
            final MemorySegment datagram,
            final byte[] challenge,
            final byte[] publicKey,
            final byte[] keyId,
            final byte[] address) {
        put(datagram, CHALLENGE, challenge);
        put(datagram, PUBLIC_KEY, publicKey);
        Wire.zero(datagram, KEY_ID, 1 + KEY_ID_BYTES_MAX);
        datagram.set(ValueLayout.JAVA_BYTE, KEY_ID, (byte) keyId.length);
        put(datagram, KEY_ID + 1, keyId);
        ADDRESS.write(datagram, 0, address);
    }
}
