package io.framecast.engine.udp;

import io.framecast.api.error.NativeException;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.SendRing;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Sends slots of a ring, by batches of one system call each.
final class SendSlots {
    private final SendRing ring;
    private final SlotIovecs iovecs;
    private final MessageBatch messages;
    private final LaneCounts counts;

    SendSlots(final Arena arena, final SendRing ring, final LaneCounts counts) {
        this.ring = ring;
        this.counts = counts;
        iovecs = new SlotIovecs(
                arena,
                new SlotIovecs.Shape(
                        address(ring.headers(), ring.headerBytes()),
                        ring.headerBytes(),
                        ring.headerBytes(),
                        address(ring.payload(), ring.payloadBytes()),
                        ring.payloadBytes(),
                        ring.slots()),
                MessageBatch.MESSAGES_MAX);
        messages = new MessageBatch(arena, iovecs);
    }

    private static long address(final MemorySegment segment, final int bytes) {
        if (bytes > 0 && !segment.isNative()) {
            throw new IllegalArgumentException("send ring: expected native memory, got memory on the heap");
        }
        return segment.address();
    }

    /// Sends `count` slots to a `sockaddr` (0: to the socket's own peer).
    ///
    /// @return how many were accepted; a datagram that the system refused for good counts as sent, for it is
    ///     as lost as one that the network dropped
    int send(
            final LinuxSocket socket,
            final long sockaddr,
            final int sockaddrBytes,
            final int firstSlot,
            final int count) {
        int accepted = 0;
        while (accepted < count) {
            final int first = (firstSlot + accepted) % ring.slots();
            final int batch = Math.min(count - accepted, MessageBatch.MESSAGES_MAX);
            aim(first, batch, sockaddr, sockaddrBytes);
            final int sent = socket.send(messages.address(), batch);
            if (sent > 0) {
                // Fewer than the batch: the next call tells why.
                count(first, sent);
                accepted += sent;
            } else if (isBackPressure(-sent)) {
                counts.add(LaneCounter.SEND_BACK_PRESSURED, 1);
                return accepted;
            } else {
                survive(-sent);
                accepted++;
            }
        }
        return accepted;
    }

    private void aim(final int first, final int batch, final long sockaddr, final int sockaddrBytes) {
        for (int i = 0; i < batch; i++) {
            final int entry = first + i;
            final int bytes = ring.payloadLengths()[entry % ring.slots()];
            if (bytes < 0 || bytes > ring.payloadBytes()) {
                throw new IllegalArgumentException(
                        "send ring: expected 0 … " + ring.payloadBytes() + " payload bytes, got " + bytes);
            }
            iovecs.payloadBytes(entry, bytes);
            messages.aim(i, entry);
            messages.address(i, sockaddr, sockaddrBytes);
        }
    }

    private void count(final int first, final int sent) {
        long bytes = (long) sent * ring.headerBytes();
        for (int i = 0; i < sent; i++) {
            bytes += ring.payloadLengths()[(first + i) % ring.slots()];
        }
        counts.add(LaneCounter.SENT_DATAGRAMS, sent);
        counts.add(LaneCounter.SENT_BYTES, bytes);
    }

    private static boolean isBackPressure(final int errno) {
        return errno == SocketLayouts.EAGAIN || errno == SocketLayouts.ENOBUFS || errno == SocketLayouts.ENOMEM;
    }

    // A network that is down, a filter, a peer that is gone, a datagram longer than a route takes: all of it may
    // pass.
    private void survive(final int errno) {
        requireUsable("sendmmsg", errno);
        counts.add(LaneCounter.SYSTEM_ERRORS, 1);
    }

    static void requireUsable(final String function, final int errno) {
        if (errno == SocketLayouts.EBADF || errno == SocketLayouts.EFAULT || errno == SocketLayouts.ENOTSOCK) {
            throw new NativeException(
                    function, errno, "the lane's socket or ring is gone; keep rings until the lane is closed");
        }
    }
}
