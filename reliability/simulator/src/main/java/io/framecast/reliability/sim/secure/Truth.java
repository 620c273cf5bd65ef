package io.framecast.reliability.sim.secure;

import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// The datagrams that honest ends sealed in a run, and the nonces that they used.
final class Truth {
    /// From which end a control datagram goes to which.
    enum Direction {
        TO_GROUP,
        TO_MEMBER,
        TO_SOURCE,
        BETWEEN_MEMBERS
    }

    private static final int SENDER_AND_TAG = 24;
    private static final int CHALLENGE_BYTES = 32;

    private record Control(Direction direction, ByteBuffer content) {}

    /// @param peer the handshake's number, or the member that sent
    /// @param key the epoch, or the number of the pair's key
    private record ControlNonce(Direction direction, boolean answers, long session, long peer, int key, long counter) {}

    private record Handshake(long session, long id) {}

    /// The source's part of a handshake, which makes its keys.
    private record Pair(ByteBuffer challenge, int key) {}

    private record DataNonce(long session, int epoch, long sequence) {}

    private record Header(long session, ByteBuffer bytes) {}

    private record Payload(int plain, int sealed) {}

    private final Set<Control> control = new HashSet<>();
    private final Set<ControlNonce> controlNonces = new HashSet<>();
    private final Map<Handshake, Pair> pairs = new HashMap<>();
    // With a checksum of the payload behind it, as it was before it was sealed and as it was sent.
    private final Map<Header, Payload> headers = new HashMap<>();
    private final Map<DataNonce, ByteBuffer> dataNonces = new HashMap<>();

    static int checksum(final MemorySegment payload, final long at, final int bytes) {
        final CRC32C crc = new CRC32C();
        crc.update(payload.asSlice(at, bytes).asByteBuffer());
        return (int) crc.getValue();
    }

    /// How a sealed datagram goes.
    ///
    /// @param bySource whether the source's key seals it, where members do not send it to each other
    static Direction direction(final MemorySegment sealed, final boolean bySource) {
        if (ControlLayout.TAG_BYTES.get(sealed, 0) == SENDER_AND_TAG) {
            return Direction.BETWEEN_MEMBERS;
        }
        if (!bySource) {
            return Direction.TO_SOURCE;
        }
        return ControlLayout.RECEIVER.get(sealed, 0) == 0 ? Direction.TO_GROUP : Direction.TO_MEMBER;
    }

    // The plain datagram with the counter that it got, without its checksum.
    private static ByteBuffer content(final MemorySegment plain, final long counter) {
        final MemorySegment copy = MemorySegment.ofArray(plain.toArray(ValueLayout.JAVA_BYTE));
        ControlLayout.COUNTER.set(copy, 0, counter);
        ControlLayout.CHECKSUM.set(copy, 0, 0);
        return ByteBuffer.wrap(copy.toArray(ValueLayout.JAVA_BYTE));
    }

    /// An honest end sealed a control datagram.
    void sealed(final Direction direction, final MemorySegment plain, final MemorySegment sealed) {
        control.add(new Control(direction, content(plain, ControlLayout.COUNTER.get(sealed, 0))));
    }

    /// True when an honest end sealed the opened datagram.
    boolean isHonest(final Direction direction, final MemorySegment opened) {
        return control.contains(new Control(direction, content(opened, ControlLayout.COUNTER.get(opened, 0))));
    }

    /// Notes the nonce of a datagram that an end sends.
    ///
    /// @return false where its key used it before
    boolean isNonceNew(final Direction direction, final MemorySegment sealed) {
        final boolean answers = ControlLayout.type(sealed, 0) == ControlLayout.TYPE_ANSWER;
        final long peer = switch (direction) {
            case TO_GROUP -> 0;
            case TO_MEMBER, TO_SOURCE -> ControlLayout.RECEIVER.get(sealed, 0) >>> 32;
            case BETWEEN_MEMBERS -> sealed.get(ValueLayout.JAVA_LONG_UNALIGNED, sealed.byteSize() - SENDER_AND_TAG);
        };
        final int key = direction == Direction.TO_MEMBER
                ? pairKey(new Handshake(ControlLayout.SESSION.get(sealed, 0), peer), answers ? sealed : null)
                : ControlLayout.KEY_EPOCH.get(sealed, 0);
        return controlNonces.add(new ControlNonce(
                direction,
                answers,
                ControlLayout.SESSION.get(sealed, 0),
                peer,
                key,
                ControlLayout.COUNTER.get(sealed, 0)));
    }

    // A PROOF that comes again where the handshake was forgotten makes other keys.
    private int pairKey(final Handshake handshake, final @Nullable MemorySegment answer) {
        final Pair known = pairs.get(handshake);
        if (answer == null) {
            return known == null ? 0 : known.key;
        }
        final ByteBuffer challenge = ByteBuffer.wrap(
                answer.asSlice(ControlLayout.LENGTH, CHALLENGE_BYTES).toArray(ValueLayout.JAVA_BYTE));
        if (known != null && known.challenge.equals(challenge)) {
            return known.key;
        }
        final int next = known == null ? 0 : known.key + 1;
        pairs.put(handshake, new Pair(challenge, next));
        return next;
    }

    /// The source sealed a datagram of the data.
    ///
    /// @param plain checksum of the payload before
    /// @param sealed and after
    /// @return false where its key sealed another one under this nonce
    boolean sealedData(final long session, final byte[] header, final int plain, final int sealed) {
        final MemorySegment bytes = MemorySegment.ofArray(header);
        headers.put(new Header(session, ByteBuffer.wrap(header)), new Payload(plain, sealed));
        if (DataLayout.type(bytes, 0) != DataLayout.TYPE_DATA) {
            return true;
        }
        final DataNonce nonce =
                new DataNonce(session, DataLayout.KEY_EPOCH.get(bytes, 0), DataLayout.SEQUENCE.get(bytes, 0));
        final ByteBuffer before = dataNonces.putIfAbsent(nonce, ByteBuffer.wrap(header));
        return before == null || before.equals(ByteBuffer.wrap(header));
    }

    /// Whether the source of a session sealed this header.
    boolean isHonestHeader(final long session, final byte[] header) {
        return headers.containsKey(new Header(session, ByteBuffer.wrap(header)));
    }

    /// Whether the source of a session sealed this payload with this header.
    ///
    /// @param checksum of the payload, as it was sent or as it was opened
    boolean isHonestPayload(final long session, final byte[] header, final int checksum, final boolean isOpen) {
        final Payload honest = headers.get(new Header(session, ByteBuffer.wrap(header)));
        return honest != null && checksum == (isOpen ? honest.plain : honest.sealed);
    }
}
