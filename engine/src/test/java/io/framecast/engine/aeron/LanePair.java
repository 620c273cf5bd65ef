package io.framecast.engine.aeron;

import io.framecast.api.spi.Completions;
import io.framecast.api.spi.DeviceRegion;
import io.framecast.api.spi.Lane;
import io.framecast.api.spi.LaneAddress;
import io.framecast.api.spi.LaneConfig;
import io.framecast.api.spi.LaneKind;
import io.framecast.api.spi.ReceiveRing;
import io.framecast.api.spi.SendRing;
import io.framecast.api.spi.Transport;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// Rings with distinct content in each slot, and lanes over them.
final class LanePair {
    static final int HEADER_BYTES = 24;
    static final int HEADER_STRIDE = 32;
    static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);

    private LanePair() {}

    static SendRing sendRing(final Arena arena, final int payloadBytes, final int slots) {
        return new SendRing(
                arena.allocate((long) slots * HEADER_BYTES, 64),
                HEADER_BYTES,
                arena.allocate((long) slots * payloadBytes, 64),
                payloadBytes,
                new int[slots]);
    }

    static ReceiveRing receiveRing(final Arena arena, final int payloadBytes, final int slots) {
        return new ReceiveRing(
                arena.allocate((long) slots * HEADER_STRIDE, 64),
                HEADER_BYTES,
                HEADER_STRIDE,
                DeviceRegion.ofHost(arena.allocate((long) slots * payloadBytes, 64)),
                payloadBytes,
                slots);
    }

    static Lane source(final Transport transport, final LaneKind kind, final SendRing ring) {
        return transport.open(new LaneConfig(kind, LaneConfig.Role.SOURCE, ring, null, null));
    }

    static Lane receiver(
            final Transport transport, final LaneKind kind, final ReceiveRing ring, final LaneAddress source) {
        return transport.open(
                new LaneConfig(kind, LaneConfig.Role.RECEIVER, null, ring, kind == LaneKind.DATA ? source : null));
    }

    /// Datagram `sequence`: the sequence in the header, and a payload that depends on it.
    static void fill(final SendRing ring, final int slot, final long sequence, final int payloadBytes) {
        ring.payloadLengths()[slot] = payloadBytes;
        final long header = (long) slot * HEADER_BYTES;
        ring.headers().set(ValueLayout.JAVA_LONG_UNALIGNED, header, sequence);
        ring.headers().set(ValueLayout.JAVA_LONG_UNALIGNED, header + 8, ~sequence);
        ring.headers().set(ValueLayout.JAVA_LONG_UNALIGNED, header + 16, payloadBytes);
        final long payload = (long) slot * ring.payloadBytes();
        for (int i = 0; i < payloadBytes; i++) {
            ring.payload().set(ValueLayout.JAVA_BYTE, payload + i, content(sequence, i));
        }
    }

    /// The sequence in `slot`, or -1 where header, length and payload do not agree.
    static long check(final ReceiveRing ring, final int slot, final int bytes) {
        final long header = (long) slot * ring.headerStride();
        final long sequence = ring.headers().get(ValueLayout.JAVA_LONG_UNALIGNED, header);
        final long inverse = ring.headers().get(ValueLayout.JAVA_LONG_UNALIGNED, header + 8);
        final long payloadBytes = ring.headers().get(ValueLayout.JAVA_LONG_UNALIGNED, header + 16);
        if (inverse != ~sequence || payloadBytes != bytes - HEADER_BYTES) {
            return -1;
        }
        final MemorySegment payload = ring.payload().host();
        for (int i = 0; i < payloadBytes; i++) {
            if (payload.get(ValueLayout.JAVA_BYTE, (long) slot * ring.payloadBytes() + i) != content(sequence, i)) {
                return -1;
            }
        }
        return sequence;
    }

    private static byte content(final long sequence, final int index) {
        return (byte) (sequence * 31 + index * 7L + (index >> 8));
    }

    /// Runs `step` until it returns true; the deadline only ends a test that hangs.
    static void until(final String what, final BooleanSupplier step) {
        final long startNs = System.nanoTime();
        while (!step.getAsBoolean()) {
            if (System.nanoTime() - startNs > PATIENCE_NS) {
                throw new AssertionError("waited in vain until " + what);
            }
            LockSupport.parkNanos(20_000);
        }
    }

    /// Sends slot 0 until one copy arrives, which shows that both ends are connected. Then drains the lane and
    /// leaves nothing posted.
    static void connect(final Lane source, final SendRing ring, final Lane receiver) {
        final Completions completions = new Completions(1);
        fill(ring, 0, -2, 1);
        until("the lanes are connected", () -> {
            source.multicast(0, 1);
            completions.clear();
            receiver.post(0, 1);
            return receiver.poll(completions) == 1;
        });
        final long sent = source.submitted();
        until("echoes of connecting are taken", () -> {
            completions.clear();
            receiver.post(0, 1);
            receiver.poll(completions);
            return receiver.counter(io.framecast.api.spi.LaneCounter.RECEIVED_DATAGRAMS) >= sent;
        });
        receiver.post(0, 0);
    }
}
