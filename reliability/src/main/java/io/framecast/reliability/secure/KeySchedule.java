package io.framecast.reliability.secure;

import io.framecast.reliability.crypto.Cipher;
import io.framecast.reliability.crypto.Hkdf;
import io.framecast.reliability.crypto.SecretBytes;
import io.framecast.reliability.crypto.SipHash;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/// All keys and tags of a handshake and of an epoch, derived by HKDF-SHA-256 (RFC 5869). Each has a label of its own.
public final class KeySchedule {
    private static final byte[] TRANSCRIPT = label("transcript");
    private static final byte[] PROOF = label("proof");
    private static final byte[] ANSWER = label("answer");
    private static final byte[] TO_SOURCE = label("member to source");
    private static final byte[] TO_MEMBER = label("source to member");
    private static final byte[] GROUP = label("group");
    private static final byte[] HOST = label("host group");
    private static final byte[] MEMBER = label("member");
    private static final byte[] HEADER = label("header");
    private static final byte[] PAYLOAD = label("payload");

    /// The keys of a pair, one for each direction.
    record PairKeys(SecretBytes toSource, SecretBytes toMember) {}

    private KeySchedule() {}

    private static byte[] label(final String word) {
        return ("framecast 2 " + word).getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] join(final byte[]... parts) {
        int bytes = 0;
        for (final byte[] part : parts) {
            bytes += part.length;
        }
        final byte[] joined = new byte[bytes];
        int at = 0;
        for (final byte[] part : parts) {
            System.arraycopy(part, 0, joined, at, part.length);
            at += part.length;
        }
        return joined;
    }

    /// Tag of a PROOF.
    ///
    /// @param content as [HandshakeLayout#content] gives it
    static byte[] proofTag(final SecretBytes shared, final byte[] content, final byte[] cookie) {
        return Hkdf.macDerived(shared, PROOF, content, cookie);
    }

    /// SHA-256 of both sides' parts of a handshake.
    static byte[] transcript(final byte[] content, final byte[] challenge, final byte[] publicKey) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(join(TRANSCRIPT, content, challenge, publicKey));
        } catch (final NoSuchAlgorithmException e) {
            throw new IllegalStateException("the JDK has no SHA-256", e);
        }
    }

    /// Tag of an ANSWER.
    static byte[] answerTag(final SecretBytes shared, final byte[] transcript) {
        return Hkdf.macDerived(shared, ANSWER, transcript);
    }

    static PairKeys pair(final SecretBytes shared, final SecretBytes agreed, final byte[] transcript) {
        try (SecretBytes key = Hkdf.extract(shared, agreed)) {
            return new PairKeys(
                    Hkdf.expand(key, join(TO_SOURCE, transcript), Cipher.KEY_BYTES),
                    Hkdf.expand(key, join(TO_MEMBER, transcript), Cipher.KEY_BYTES));
        }
    }

    /// Makes the tag by which processes of a host find that they have the same shared key. The tag does not reveal it.
    public static byte[] hostTag(final SecretBytes shared) {
        return Hkdf.mac(shared, HOST);
    }

    /// The key of datagrams from the source to the group.
    static SecretBytes group(final SecretBytes epochKey) {
        return Hkdf.expand(epochKey, GROUP, Cipher.KEY_BYTES);
    }

    /// The key of datagrams from one member to other members.
    static SecretBytes member(final SecretBytes epochKey, final long senderId) {
        final byte[] id = ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(senderId)
                .array();
        return Hkdf.expand(epochKey, join(MEMBER, id), Cipher.KEY_BYTES);
    }

    /// The key of the tags of data headers.
    static SecretBytes header(final SecretBytes dataKey) {
        return Hkdf.expand(dataKey, HEADER, SipHash.KEY_BYTES);
    }

    /// The key of the cipher of payloads.
    static SecretBytes payload(final SecretBytes dataKey) {
        return Hkdf.expand(dataKey, PAYLOAD, Cipher.KEY_BYTES);
    }

    /// Whether two tags are equal; the time that takes does not depend on them.
    static boolean matches(final byte[] expected, final byte[] given) {
        return MessageDigest.isEqual(expected, given);
    }
}
