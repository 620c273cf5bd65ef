package io.framecast.reliability.sim.secure;

import io.framecast.reliability.lane.ControlProtection;
import io.framecast.reliability.lane.DataSealer;
import io.framecast.reliability.sim.plan.Plant;
import io.framecast.reliability.sim.secure.Truth.Direction;
import io.framecast.reliability.wire.DataLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// A source's end in one session.
public final class SecureSource extends SecureEnd {
    private static final int REUSE_ONE_OF = 16;

    private final long session;
    private final SimSecurity.Source end;
    private int sentToGroup;
    private int epoch;
    // The first sequence that is sealed under it.
    private long begin;

    SecureSource(final SecureRun run, final long session, final int handshakesMax, final SimSecurity.Output output) {
        super(run, true);
        this.session = session;
        end = run.security().source(session, handshakesMax, run.random().split(), (address, datagram, bytes) -> {
            final MemorySegment copy = sent(datagram, bytes);
            output.send(address, copy, bytes);
        });
    }

    @Override
    ControlProtection control() {
        return end.control();
    }

    /// The next keys are used once nothing sealed under earlier ones than the present can be repaired.
    ///
    /// @param freed below which the window holds nothing
    /// @param isSent whether all was sent that was sealed
    /// @param sealed sequences so far
    public void useBehind(final LongSupplier freed, final BooleanSupplier isSent, final LongSupplier sealed) {
        epoch = end.epoch();
        end.useWhere(() -> freed.getAsLong() >= begin && isSent.getAsBoolean(), sealed);
    }

    /// In each cycle, after the protection's work.
    ///
    /// @param sealed sequences so far
    /// @return whether an epoch begins
    public boolean onCycle(final long sealed) {
        if (epoch == end.epoch()) {
            return false;
        }
        epoch = end.epoch();
        begin = sealed;
        return true;
    }

    /// Seals a datagram to the group.
    ///
    /// @return null where it must not be sent
    public @Nullable MemorySegment toGroup(final MemorySegment plain) {
        if (run().plant() == Plant.NONCE_REUSED && ++sentToGroup % REUSE_ONE_OF == 0) {
            // The counter begins anew under the same key.
            try (SimSecurity.Insider again = end.insider(0)) {
                return sealed(plain, again::sealToGroup);
            }
        }
        return sealed(plain, control()::sealToGroup);
    }

    /// Seals a datagram to the receiver that its header names.
    ///
    /// @return null where it must not be sent
    public @Nullable MemorySegment toPeer(final MemorySegment plain) {
        return sealed(plain, control()::sealToPeer);
    }

    /// Seals the data.
    public DataSealer data() {
        final DataSealer sealer = end.data();
        return new DataSealer() {
            @Override
            public void seal(
                    final MemorySegment headers,
                    final long header,
                    final MemorySegment payload,
                    final long at,
                    final int bytes) {
                final int plain = Truth.checksum(payload, at, bytes);
                sealer.seal(headers, header, payload, at, bytes);
                final byte[] sealed =
                        headers.asSlice(header, DataLayout.SEALED_LENGTH).toArray(ValueLayout.JAVA_BYTE);
                if (!run().truth().sealedData(session, sealed, plain, Truth.checksum(payload, at, bytes))) {
                    run().violation("seals two headers of sequence " + DataLayout.SEQUENCE.get(headers, header));
                }
            }

            @Override
            public boolean sealsPayload() {
                return run().plant() != Plant.ENCRYPT_OPEN_CLAIM && sealer.sealsPayload();
            }
        };
    }

    /// A receiver is no member any more, and gets no new keys.
    ///
    /// @param receiverId of that membership
    public void evict(final long receiverId) {
        end.evict((int) (receiverId >>> 32));
    }

    /// Changes the keys. The attacker keeps the ones before.
    public void rekey(final long nowNs, final long limitNs, final IntPredicate members) {
        run().adversary().steal(session, end);
        end.rekey(nowNs, limitNs, members);
    }

    @Override
    void onTaken(final Direction direction, final MemorySegment sealed, final MemorySegment plain, final long nowNs) {
        // It has no epoch for the datagrams that it takes.
    }

    @Override
    public void close() {
        end.close();
    }
}
