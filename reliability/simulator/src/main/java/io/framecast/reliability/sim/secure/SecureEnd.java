package io.framecast.reliability.sim.secure;

import io.framecast.reliability.lane.ControlProtection;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.secure.Truth.Direction;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// One process's end of protected control datagrams: seals and opens as a control lane does, and compares each
/// datagram that it takes with those that honest ends sealed. Datagrams are arrays; the protection works on
/// native memory.
public abstract sealed class SecureEnd implements AutoCloseable permits SecureSource, SecureReceiver {
    private static final long OPENED_AT = SecureRun.SLOT_BYTES;

    /// Seals a datagram at the beginning of a segment.
    interface Seal {
        int seal(MemorySegment datagram, int bytes);
    }

    /// The newest datagram that was taken under one key.
    private record Newest(ByteBuffer sealed, long counter, MemorySegment plain) {}

    private record Key(long session, long receiver, int trailer, int epoch) {}

    private final SecureRun run;
    private final boolean isSource;
    private final MemorySegment scratch;
    // By session: the sealed datagrams that were taken.
    private final Map<Long, Set<ByteBuffer>> taken = new HashMap<>();
    private final Map<Key, Newest> newest = new HashMap<>();

    SecureEnd(final SecureRun run, final boolean isSource) {
        this.run = run;
        this.isSource = isSource;
        scratch = run.scratch();
    }

    final SecureRun run() {
        return run;
    }

    abstract ControlProtection control();

    /// Repeats unanswered messages, retires keys.
    public final int doWork(final long nowNs) {
        return control().doWork(nowNs);
    }

    /// The time of the next [#doWork].
    public final long nextDeadlineNs() {
        return control().nextDeadlineNs();
    }

    /// Seals a plain datagram.
    ///
    /// @return null where it must not be sent
    final @Nullable MemorySegment sealed(final MemorySegment plain, final Seal by) {
        final int bytes = (int) plain.byteSize();
        MemorySegment.copy(plain, 0, scratch, 0, bytes);
        final int sealedBytes = by.seal(scratch.asSlice(0, Wire.CONTROL_BYTES_MAX), bytes);
        if (sealedBytes == 0) {
            return null;
        }
        final MemorySegment sealed = copy(scratch, 0, sealedBytes);
        final Direction direction = Truth.direction(sealed, isSource);
        run.truth().sealed(direction, plain, sealed);
        checkNonce(direction, sealed);
        return sealed;
    }

    private void checkNonce(final Direction direction, final MemorySegment sealed) {
        if (!run.truth().isNonceNew(direction, sealed)) {
            run.violation(
                    direction + ": a nonce comes again, counter " + ControlLayout.COUNTER.get(sealed, 0) + " of epoch "
                            + ControlLayout.KEY_EPOCH.get(sealed, 0) + ", type " + ControlLayout.type(sealed, 0));
        }
    }

    /// The protection itself sends a datagram: of a handshake, or new keys.
    final MemorySegment sent(final MemorySegment datagram, final int bytes) {
        final MemorySegment copy = copy(datagram, 0, bytes);
        final boolean answers = ControlLayout.type(copy, 0) == ControlLayout.TYPE_ANSWER;
        if (answers || ControlLayout.TAG_BYTES.get(copy, 0) != 0) {
            checkNonce(Truth.direction(copy, isSource), copy);
        }
        return copy;
    }

    /// Opens a datagram that arrived.
    ///
    /// @return the plain datagram; null where it was dropped, or was part of a handshake
    public final @Nullable MemorySegment open(final MemorySegment datagram, final long nowNs) {
        final int bytes = (int) datagram.byteSize();
        if (bytes > SecureRun.SLOT_BYTES) {
            return null;
        }
        MemorySegment.copy(datagram, 0, scratch, OPENED_AT, bytes);
        final int plainBytes = control().open(scratch, OPENED_AT, bytes, nowNs);
        final MemorySegment plain = plainBytes == 0 ? again(datagram) : copy(scratch, OPENED_AT, plainBytes);
        if (plain != null) {
            check(datagram, plain, nowNs);
        }
        return plain;
    }

    private void check(final MemorySegment sealed, final MemorySegment plain, final long nowNs) {
        final Direction direction = Truth.direction(sealed, !isSource);
        final ByteBuffer bytes = ByteBuffer.wrap(sealed.toArray(ValueLayout.JAVA_BYTE));
        if (ControlLayout.TAG_BYTES.get(sealed, 0) == 0 || !run.truth().isHonest(direction, plain)) {
            run.violation("takes a control datagram that no honest end sealed, type " + ControlLayout.type(plain, 0));
        } else if (!taken.computeIfAbsent(ControlLayout.SESSION.get(sealed, 0), _ -> new HashSet<>())
                .add(bytes)) {
            run.violation("takes a control datagram twice, type " + ControlLayout.type(plain, 0) + ", counter "
                    + ControlLayout.COUNTER.get(sealed, 0));
        }
        note(sealed, bytes, plain);
        onTaken(direction, sealed, plain, nowNs);
    }

    /// A datagram was opened.
    abstract void onTaken(Direction direction, MemorySegment sealed, MemorySegment plain, long nowNs);

    final void forgetTaken(final long session) {
        taken.remove(session);
    }

    private static Key key(final MemorySegment sealed) {
        return new Key(
                ControlLayout.SESSION.get(sealed, 0),
                ControlLayout.RECEIVER.get(sealed, 0),
                ControlLayout.TAG_BYTES.get(sealed, 0),
                ControlLayout.KEY_EPOCH.get(sealed, 0));
    }

    private void note(final MemorySegment sealed, final ByteBuffer bytes, final MemorySegment plain) {
        final long counter = ControlLayout.COUNTER.get(sealed, 0);
        final Newest before = newest.get(key(sealed));
        if (before == null || counter > before.counter) {
            newest.put(key(sealed), new Newest(bytes, counter, plain));
        }
    }

    // The injected bug: the newest datagram of a key is new once more.
    private @Nullable MemorySegment again(final MemorySegment datagram) {
        if (run.plant() != Plant.REPLAY_WINDOW_OFF_BY_ONE || datagram.byteSize() < ControlLayout.LENGTH) {
            return null;
        }
        final Newest last = newest.get(key(datagram));
        return last != null && last.sealed.equals(ByteBuffer.wrap(datagram.toArray(ValueLayout.JAVA_BYTE)))
                ? copy(last.plain, 0, (int) last.plain.byteSize())
                : null;
    }

    static MemorySegment copy(final MemorySegment memory, final long offset, final int bytes) {
        return MemorySegment.ofArray(memory.asSlice(offset, bytes).toArray(ValueLayout.JAVA_BYTE));
    }

    @Override
    public abstract void close();
}
