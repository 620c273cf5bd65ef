package io.framecast.reliability.sim.secure;

import io.framecast.reliability.lane.ControlProtection;
import io.framecast.reliability.lane.DataOpener;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.record.SimCount;
import io.framecast.reliability.sim.secure.Truth.Direction;
import io.framecast.reliability.wire.ControlLayout;
import io.framecast.reliability.wire.DataLayout;
import io.framecast.reliability.wire.HeartbeatLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// The end of a receiver's process, for all of its sessions.
public final class SecureReceiver extends SecureEnd {
    /// No sequence.
    static final long UNKNOWN = Long.MAX_VALUE;

    /// Takes a plain datagram.
    public interface Plain {
        void onControl(MemorySegment datagram);
    }

    /// From a time on the source is known to use an epoch, and from a sequence on it sealed no data under those
    /// before.
    private record Use(int epoch, long fromNs, long fromSequence) {}

    private final SimSecurity.Receiver end;
    private final LongSupplier clock;
    // By session, in order of time.
    private final Map<Long, List<Use>> uses = new HashMap<>();

    SecureReceiver(
            final SecureRun run,
            final byte[] address,
            final LongSupplier clock,
            final SimSecurity.Output output,
            final Plain onPlain) {
        super(run, false);
        this.clock = clock;
        end = run.security()
                .receiver(
                        address,
                        run.previousNs(),
                        run.random().split(),
                        (to, datagram, bytes) -> output.send(to, sent(datagram, bytes), bytes),
                        (datagram, offset, bytes, _) -> onHeartbeat(copy(datagram, offset, bytes), onPlain));
    }

    private void onHeartbeat(final MemorySegment plain, final Plain onPlain) {
        if (!run().truth().isHonest(Direction.TO_GROUP, plain)) {
            run().violation("takes a heartbeat that no honest end sealed");
        }
        onPlain.onControl(plain);
    }

    @Override
    ControlProtection control() {
        return end.control();
    }

    /// Seals a datagram to the source.
    ///
    /// @return null where it must not be sent
    public @Nullable MemorySegment toSource(final MemorySegment plain) {
        return sealed(plain, control()::sealToPeer);
    }

    /// Seals a datagram to another member.
    ///
    /// @param senderId the receiver's id of this end
    /// @return null where it must not be sent
    public @Nullable MemorySegment toMember(final MemorySegment plain, final long senderId) {
        return sealed(plain, (datagram, bytes) -> control().sealToMember(datagram, bytes, senderId));
    }

    /// Whether there are keys of a session; begins a handshake where there is none.
    public boolean agree(final long session, final byte[] sourceAddress, final long nowNs) {
        return end.agree(session, sourceAddress, nowNs);
    }

    /// Gives up the keys of a session: its source did not answer in time.
    public void refuse(final long session) {
        end.refuse(session);
    }

    /// A new receiver's id in a session; 0 where there are no keys.
    public long receiverId(final long session, final RandomGenerator ids) {
        return end.receiverId(session, ids);
    }

    /// The membership is over, and its keys with it.
    public void forget(final long session) {
        end.forget(session);
        forgetTaken(session);
        uses.remove(session);
    }

    /// Opens the data of a session.
    ///
    /// @param repairs the memory where headers of repairs land
    public DataOpener data(final long session, final MemorySegment repairs) {
        final DataOpener opener = end.data(session);
        return new DataOpener() {
            @Override
            public boolean open(
                    final MemorySegment headers,
                    final long header,
                    final MemorySegment payload,
                    final long at,
                    final int bytes) {
                final byte[] sealed =
                        headers.asSlice(header, DataLayout.SEALED_LENGTH).toArray(ValueLayout.JAVA_BYTE);
                final boolean isHonest = isHonest(session, sealed, payload, at, bytes, false);
                final boolean isOpen = opener.open(headers, header, payload, at, bytes)
                        || (run().plant() == Plant.REPAIR_TAG_UNCHECKED && headers == repairs);
                check(sealed, isHonest, isOpen);
                if (isOpen && isHonest && !isHonest(session, sealed, payload, at, bytes, true)) {
                    run().violation("opens a payload that no end sealed");
                }
                return isOpen;
            }

            @Override
            public void reseal(
                    final MemorySegment headers,
                    final long header,
                    final MemorySegment payload,
                    final long at,
                    final int bytes) {
                opener.reseal(headers, header, payload, at, bytes);
                final byte[] sealed =
                        headers.asSlice(header, DataLayout.SEALED_LENGTH).toArray(ValueLayout.JAVA_BYTE);
                if (!isHonest(session, sealed, payload, at, bytes, false)) {
                    run().violation("keeps other bytes than the source sealed");
                }
            }
        };
    }

    // A payload counts where something authenticates it.
    private boolean isHonest(
            final long session,
            final byte[] header,
            final MemorySegment payload,
            final long at,
            final int bytes,
            final boolean isOpen) {
        final MemorySegment view = MemorySegment.ofArray(header);
        final boolean counts = run().security().sealsPayloads() && DataLayout.type(view, 0) == DataLayout.TYPE_DATA;
        return counts
                ? run().truth().isHonestPayload(session, header, Truth.checksum(payload, at, bytes), isOpen)
                : run().truth().isHonestHeader(session, header);
    }

    private void check(final byte[] header, final boolean isHonest, final boolean isOpen) {
        final MemorySegment bytes = MemorySegment.ofArray(header);
        if (isOpen && !isHonest) {
            run().violation("takes data that no honest end sealed, sequence " + DataLayout.SEQUENCE.get(bytes, 0));
        } else if (!isOpen && isHonest) {
            // It has no keys of that epoch.
            run().journal().count(SimCount.LOSSES);
        }
    }

    private void checkEpoch(final long session, final int epoch) {
        if (isOver(session, epoch)) {
            run().violation("takes a datagram of epoch " + epoch + ", which is over");
        }
    }

    /// From this sequence on no data sealed under an epoch may be taken: of the one before the present, repairs
    /// may.
    ///
    /// @return [#UNKNOWN] where nothing says so yet
    long endOf(final long session, final int epoch) {
        final List<Use> later = uses.getOrDefault(session, List.of()).stream()
                .filter(use -> use.epoch > epoch)
                .toList();
        return later.isEmpty() ? UNKNOWN : later.size() > 1 ? 0 : later.getFirst().fromSequence;
    }

    /// Whether no control datagram sealed under an epoch may be taken any more.
    boolean isOver(final long session, final int epoch) {
        for (final Use use : uses.getOrDefault(session, List.of())) {
            if (use.epoch > epoch) {
                return clock.getAsLong() >= use.fromNs + SecureRun.PREVIOUS_NS;
            }
        }
        return false;
    }

    @Override
    void onTaken(final Direction direction, final MemorySegment sealed, final MemorySegment plain, final long nowNs) {
        if (direction != Direction.TO_GROUP && direction != Direction.BETWEEN_MEMBERS) {
            return;
        }
        final long session = ControlLayout.SESSION.get(sealed, 0);
        final int epoch = ControlLayout.KEY_EPOCH.get(sealed, 0);
        checkEpoch(session, epoch);
        final List<Use> known = uses.computeIfAbsent(session, _ -> new ArrayList<>());
        if (direction == Direction.TO_GROUP && (known.isEmpty() || epoch > known.getLast().epoch)) {
            known.add(new Use(epoch, nowNs, UNKNOWN));
        }
        if (direction == Direction.TO_GROUP
                && known.getLast().fromSequence == UNKNOWN
                && ControlLayout.type(plain, 0) == ControlLayout.TYPE_HEARTBEAT) {
            final Use last = known.removeLast();
            known.add(new Use(last.epoch, last.fromNs, HeartbeatLayout.NEXT_SEQUENCE.get(plain, 0)));
        }
    }

    @Override
    public void close() {
        end.close();
    }
}
