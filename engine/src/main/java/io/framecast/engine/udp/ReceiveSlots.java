package io.framecast.engine.udp;

import io.framecast.api.error.TransportException;
import io.framecast.api.spi.Completions;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.ReceiveRing;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The run of posted slots of a receive ring, and how datagrams land in it: message by message, in the order
/// posted.
///
/// A datagram that must be dropped (longer than a slot, shorter than a header) consumes no slot: those behind it
/// in the batch are moved up, so hostile datagrams neither misplace others nor use slots up.
final class ReceiveSlots {
    private final ReceiveRing ring;
    private final MemorySegment payload;
    private final MessageBatch messages;
    private final LaneCounts counts;
    private int firstSlot;
    private int posted;

    ReceiveSlots(final Arena arena, final ReceiveRing ring, final LaneCounts counts) {
        if (!ring.payload().hostAddressable()) {
            throw new TransportException("udp: cannot land in device memory; stage payloads through host memory");
        }
        this.ring = ring;
        this.counts = counts;
        payload = ring.payload().host();
        if (!payload.isNative() || (ring.headerBytes() > 0 && !ring.headers().isNative())) {
            throw new IllegalArgumentException("receive ring: expected native memory, got memory on the heap");
        }
        final SlotIovecs iovecs = new SlotIovecs(
                arena,
                new SlotIovecs.Shape(
                        ring.headers().address(),
                        ring.headerStride(),
                        ring.headerBytes(),
                        payload.address(),
                        ring.payloadBytes(),
                        ring.slots()),
                MessageBatch.MESSAGES_MAX);
        messages = new MessageBatch(arena, iovecs);
    }

    /// Replaces the posted run.
    int post(final int first, final int count) {
        if (first < 0 || first >= ring.slots() || count < 0 || count > ring.slots()) {
            throw new IllegalArgumentException(
                    "post: expected slots of 0 … " + (ring.slots() - 1) + ", got " + first + " + " + count);
        }
        firstSlot = first;
        posted = count;
        return count;
    }

    /// Takes what a socket has, as far as slots and completions go.
    ///
    /// @return the errno when there is nothing more, 0 when slots or completions ran out
    int drain(final LinuxSocket socket, final Completions completions) {
        while (true) {
            final int room = Math.min(posted, completions.capacity() - completions.count());
            final int want = Math.min(room, MessageBatch.MESSAGES_MAX);
            if (want == 0) {
                return 0;
            }
            for (int i = 0; i < want; i++) {
                messages.aim(i, firstSlot + i);
            }
            final int got = socket.receive(messages.address(), want);
            if (got <= 0) {
                return -got;
            }
            take(got, completions);
            if (got < want) {
                return SocketLayouts.EAGAIN;
            }
        }
    }

    private void take(final int got, final Completions completions) {
        int kept = 0;
        long bytes = 0;
        for (int i = 0; i < got; i++) {
            final int datagramBytes = messages.bytes(i);
            if (messages.isTruncated(i)) {
                counts.add(LaneCounter.TRUNCATED, 1);
                continue;
            }
            if (datagramBytes < ring.headerBytes()) {
                counts.add(LaneCounter.MALFORMED, 1);
                continue;
            }
            if (kept != i) {
                move(slot(i), slot(kept), datagramBytes);
            }
            completions.add(slot(kept), datagramBytes);
            bytes += datagramBytes;
            kept++;
        }
        firstSlot = slot(kept);
        posted -= kept;
        counts.add(LaneCounter.RECEIVED_DATAGRAMS, kept);
        counts.add(LaneCounter.RECEIVED_BYTES, bytes);
    }

    private void move(final int from, final int to, final int datagramBytes) {
        final long stride = ring.headerStride();
        if (ring.headerBytes() > 0) {
            MemorySegment.copy(ring.headers(), from * stride, ring.headers(), to * stride, ring.headerBytes());
        }
        MemorySegment.copy(
                payload,
                (long) from * ring.payloadBytes(),
                payload,
                (long) to * ring.payloadBytes(),
                datagramBytes - ring.headerBytes());
    }

    private int slot(final int index) {
        return (firstSlot + index) % ring.slots();
    }
}
