package io.framecast.reliability.sim.secure;

import io.framecast.reliability.sim.secure.Adversary.Seen;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.ControlWriter;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.HeaderChecksum;
import io.framecast.reliability.wire.HeartbeatLayout;
import io.framecast.reliability.wire.LeaveLayout;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// Makes datagrams that no honest end sent, out of those that were seen. Most have the right checksum.
///
/// One thread.
final class Forger {
    private static final int TAG_BYTES = 16;
    private static final int FIELD_BITS = 16;
    private static final int NEAR = 40;

    private final RandomGenerator random;
    private final boolean altersPayloads;
    private final HeaderChecksum checksum = new HeaderChecksum();

    /// @param altersPayloads whether a receiver must notice that
    Forger(final RandomGenerator random, final boolean altersPayloads) {
        this.random = random;
        this.altersPayloads = altersPayloads;
    }

    static boolean isHandshake(final Seen seen) {
        final int type = typeOf(seen);
        return type == ControlLayout.TYPE_HELLO
                || type == ControlLayout.TYPE_PROOF
                || type == ControlLayout.TYPE_COOKIE
                || type == ControlLayout.TYPE_ANSWER;
    }

    private static int typeOf(final Seen seen) {
        return seen.bytes().length < ControlLayout.LENGTH
                ? 0
                : ControlLayout.type(MemorySegment.ofArray(seen.bytes()), 0);
    }

    static boolean isData(final MemorySegment datagram) {
        return datagram.byteSize() >= DataLayout.SEALED_LENGTH;
    }

    /// The session of a datagram of the data, where its nonce was learnt.
    long sessionOf(final Seen seen, final List<Long> sessions) {
        final MemorySegment bytes = MemorySegment.ofArray(seen.bytes());
        for (final long session : sessions) {
            if (isData(bytes) && checksum.isSealed(bytes, 0, session)) {
                return session;
            }
        }
        return random.nextLong();
    }

    /// Flips some bits.
    MemorySegment flipped(final Seen one) {
        final MemorySegment copy = one.copy();
        final long end = one.isControl() || altersPayloads
                ? copy.byteSize()
                : Math.min(copy.byteSize(), DataLayout.SEALED_LENGTH);
        for (int i = 1 + random.nextInt(3); i > 0 && end > 0; i--) {
            final long at = random.nextLong(end);
            final byte before = copy.get(ValueLayout.JAVA_BYTE, at);
            copy.set(ValueLayout.JAVA_BYTE, at, (byte) (before ^ 1 << random.nextInt(8)));
        }
        return one.isControl() && random.nextInt(4) != 0 ? complete(copy) : copy;
    }

    /// It is shorter, or longer.
    MemorySegment resized(final Seen one) {
        final int length = one.bytes().length;
        final int made = random.nextBoolean() ? random.nextInt(length + 1) : length + 1 + random.nextInt(NEAR);
        final MemorySegment copy = MemorySegment.ofArray(Arrays.copyOf(one.bytes(), made));
        return one.isControl() && random.nextInt(4) != 0 ? complete(copy) : copy;
    }

    /// Parts of two, or of two sessions.
    @Nullable
    MemorySegment mixed(final Seen one, final Seen other, final long session) {
        final MemorySegment copy = one.copy();
        if (!one.isControl()) {
            if (other.isControl() || !isData(copy) || other.bytes().length < DataLayout.SEALED_LENGTH) {
                return null;
            }
            // The other's seal.
            final int from = random.nextBoolean() ? DataLayout.TAG : DataLayout.LENGTH;
            MemorySegment.copy(other.bytes(), from, copy, ValueLayout.JAVA_BYTE, from, DataLayout.SEALED_LENGTH - from);
            return copy;
        }
        if (copy.byteSize() < ControlLayout.LENGTH) {
            return null;
        }
        if (random.nextBoolean()) {
            ControlLayout.SESSION.set(copy, 0, session);
        } else if (other.isControl() && other.bytes().length >= ControlLayout.LENGTH) {
            final byte[] body = other.bytes();
            final MemorySegment made = MemorySegment.ofArray(body.clone());
            MemorySegment.copy(copy, 0, made, 0, ControlLayout.LENGTH);
            return complete(made);
        }
        return complete(copy);
    }

    /// A header of the data that is plausible, with the right checksum and a wrong tag.
    MemorySegment data(final Seen one, final long session) {
        return data(one, session, 0);
    }

    /// The same, of this sequence or a later one.
    MemorySegment data(final Seen one, final long session, final long first) {
        final MemorySegment copy = one.copy();
        if (!isData(copy)) {
            return copy;
        }
        final long sequence = DataLayout.SEQUENCE.get(copy, 0);
        switch (random.nextInt(4)) {
            case 0 -> DataLayout.SEQUENCE.set(copy, 0, sequence + 1 + random.nextInt(NEAR));
            case 1 -> DataLayout.FRAME_ID.set(copy, 0, DataLayout.FRAME_ID.get(copy, 0) + 1 + random.nextInt(NEAR));
            case 2 -> DataLayout.TIMESTAMP.set(copy, 0, random.nextLong());
            default ->
                DataLayout.METADATA_BYTES.set(
                        copy, 0, DataLayout.METADATA_BYTES.get(copy, 0) ^ 1 + random.nextInt(FIELD_BITS));
        }
        if (DataLayout.SEQUENCE.get(copy, 0) < first) {
            DataLayout.SEQUENCE.set(copy, 0, first + random.nextInt(NEAR));
        }
        DataLayout.SESSION_TAG.set(copy, 0, DataLayout.sessionTag(session));
        checksum.seal(copy, 0, session);
        for (int at = DataLayout.SEALED_LENGTH; at < copy.byteSize(); at++) {
            copy.set(ValueLayout.JAVA_BYTE, at, (byte) 0x3c);
        }
        if (random.nextBoolean()) {
            for (int at = DataLayout.TAG; at < DataLayout.SEALED_LENGTH; at++) {
                copy.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
            }
        }
        return copy;
    }

    /// A control datagram without a key: it claims to be sealed, or to need no seal.
    MemorySegment control(final Seen one, final long session) {
        final MemorySegment copy = one.copy();
        if (copy.byteSize() < ControlLayout.LENGTH + TAG_BYTES) {
            return copy;
        }
        switch (random.nextInt(5)) {
            case 0 -> ControlLayout.TAG_BYTES.set(copy, 0, 0);
            case 1 -> ControlLayout.COUNTER.set(copy, 0, ControlLayout.COUNTER.get(copy, 0) + 1 + random.nextInt(NEAR));
            case 2 -> ControlLayout.KEY_EPOCH.set(copy, 0, ControlLayout.KEY_EPOCH.get(copy, 0) + 1);
            case 3 -> ControlLayout.RECEIVER.set(copy, 0, random.nextInt(3) == 0 ? 0 : random.nextLong());
            default -> announce(copy, session);
        }
        return complete(copy);
    }

    // Where it is a heartbeat, it names another session or another source.
    private void announce(final MemorySegment copy, final long session) {
        if (ControlLayout.type(copy, 0) == ControlLayout.TYPE_HEARTBEAT
                && copy.byteSize() > HeartbeatLayout.CONTROL_ADDRESS.at() + 33) {
            if (random.nextBoolean()) {
                ControlLayout.SESSION.set(copy, 0, session);
            } else {
                HeartbeatLayout.CONTROL_ADDRESS.write(copy, 0, new byte[] {0, (byte) random.nextInt(4)});
            }
        }
    }

    /// A datagram of a handshake that no receiver began, or that another one did.
    MemorySegment handshake(final Seen one) {
        final MemorySegment copy = one.copy();
        if (random.nextInt(3) != 0) {
            ControlLayout.RECEIVER.set(copy, 0, (long) random.nextInt() << 32);
        }
        if (random.nextInt(3) == 0) {
            copy.set(ValueLayout.JAVA_BYTE, ControlLayout.LENGTH + random.nextInt(32), (byte) random.nextInt());
        }
        return complete(copy);
    }

    /// A plain datagram that ends the stream, or one that was seen with a body that is its tag's garbage.
    ///
    /// @param memory takes it, from its beginning
    /// @return its length
    int order(final MemorySegment memory, final Seen one, final long session) {
        final int bytes = Math.min(one.bytes().length, Wire.CONTROL_BYTES_MAX - NEAR);
        if (random.nextBoolean() || bytes < ControlLayout.LENGTH) {
            return LeaveLayout.writeEvict(new ControlWriter(session).in(memory), LeaveLayout.Reason.CLOSED);
        }
        MemorySegment.copy(one.bytes(), 0, memory, ValueLayout.JAVA_BYTE, 0, bytes);
        ControlLayout.SESSION.set(memory, 0, session);
        ControlLayout.RECEIVER.set(memory, 0, 0);
        return bytes;
    }

    private MemorySegment complete(final MemorySegment copy) {
        final int bytes = (int) copy.byteSize();
        if (bytes >= ControlLayout.LENGTH && bytes <= Wire.CONTROL_BYTES_MAX) {
            ControlLayout.DATAGRAM_BYTES.set(copy, 0, bytes);
            ControlLayout.CHECKSUM.set(copy, 0, checksum.ofControl(copy, 0, bytes));
        }
        return copy;
    }
}
