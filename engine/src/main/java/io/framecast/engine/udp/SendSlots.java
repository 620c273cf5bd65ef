package io.framecast.engine.udp;

import io.framecast.api.error.NativeException;
import io.framecast.api.spi.LaneCounter;
import io.framecast.api.spi.SendRing;
import io.framecast.engine.libc.Linux;
import io.framecast.engine.net.LaneCounts;
import java.lang.foreign.Arena;

/// Sends slots of a ring in batches of one system call each. Where the kernel cuts messages, a run of datagrams
/// of one length is one message, and costs the kernel one pass.
final class SendSlots {
    private final SendRing ring;
    private final MessageBatch messages;
    private final int[] segments = new int[MessageBatch.MESSAGES_MAX];
    private final LaneCounts counts;
    private final Offload offload;
    private final SystemFaults faults;
    private final LengthFault tooLong = new LengthFault();

    SendSlots(
            final Arena arena,
            final SendRing ring,
            final LaneCounts counts,
            final Offload offload,
            final SystemFaults faults) {
        this.ring = ring;
        this.counts = counts;
        this.offload = offload;
        this.faults = faults;
        messages = new MessageBatch(
                arena,
                new MessageBatch.Parts(ring.headers(), ring.headerBytes(), ring.headerBytes()),
                new MessageBatch.Parts(ring.payload(), ring.payloadBytes(), ring.payloadBytes()),
                ring.slots(),
                0);
    }

    /// Sends `count` slots to a `sockaddr` (0: to the socket's own peer).
    ///
    /// @return how many were accepted; a datagram that the system refused for good counts as sent, like one that
    ///     the network dropped
    /// @throws io.framecast.api.error.TransportException when datagrams of this length have been refused for too
    ///     long
    int send(
            final LinuxSocket socket,
            final long sockaddr,
            final int sockaddrBytes,
            final int firstSlot,
            final int count) {
        int accepted = 0;
        while (accepted < count) {
            final int first = (firstSlot + accepted) % ring.slots();
            // A batch ends with the ring.
            final int batch =
                    fillMessages(first, Math.min(count - accepted, ring.slots() - first), sockaddr, sockaddrBytes);
            final int sent = socket.send(messages.address(), batch);
            if (sent > 0) {
                // The next call learns why the kernel took fewer than the batch.
                accepted += count(first, sent);
                notePassed(first);
            } else if (isBackPressure(-sent)) {
                counts.add(LaneCounter.SEND_BACK_PRESSURED, 1);
                return accepted;
            } else {
                accepted += onRefused(-sent, ring.headerBytes() + ring.payloadLengths()[first]);
            }
        }
        return accepted;
    }

    private void notePassed(final int first) {
        if (segments[0] == 1 && tooLong.onPassed(ring.headerBytes() + ring.payloadLengths()[first])) {
            offload.onRefused(Linux.EMSGSIZE, Offload.SEGMENTS_OLD_MAX);
        }
    }

    /// The first message of a batch was refused.
    ///
    /// @param datagramBytes length of its first datagram
    /// @return datagrams to skip; 0 when the lane must try them otherwise
    private int onRefused(final int errno, final int datagramBytes) {
        final int run = segments[0];
        final long nowNs = System.nanoTime();
        if (errno == Linux.EMSGSIZE) {
            tooLong.onRefused(datagramBytes, run > 1, nowNs);
            if (run > 1) {
                return 0;
            }
            faults.requirePatience(datagramBytes, tooLong.sinceNs(), nowNs);
        } else if (run > 1 && offload.onRefused(errno, run)) {
            return 0;
        }
        requireUsable("sendmmsg", errno);
        counts.add(LaneCounter.SYSTEM_ERRORS, 1);
        faults.onFault(errno, datagramBytes, nowNs);
        return run;
    }

    /// Fills messages with the next slots, `slotsMax` at most.
    ///
    /// @return messages filled
    private int fillMessages(final int first, final int slotsMax, final long sockaddr, final int sockaddrBytes) {
        int taken = 0;
        int message = 0;
        while (taken < slotsMax && message < MessageBatch.MESSAGES_MAX) {
            final int run = run(first + taken, slotsMax - taken);
            messages.pointTo(message, first + taken, run);
            messages.segment(message, run == 1 ? 0 : ring.headerBytes() + ring.payloadLengths()[first + taken]);
            messages.address(message, sockaddr, sockaddrBytes);
            segments[message++] = run;
            taken += run;
        }
        return message;
    }

    // Counts the datagrams from an entry on that make one message: all of one length, but for the last.
    private int run(final int first, final int slotsMax) {
        final int longest = prepare(first);
        final int most = longest == 0 || tooLong.concerns(longest) ? 1 : Math.min(slotsMax, offload.segmentsMax());
        int run = 1;
        int bytes = longest;
        while (run < most) {
            final int next = prepare(first + run);
            bytes += next;
            if (next > longest || bytes > Offload.MESSAGE_BYTES_MAX) {
                break;
            }
            run++;
            if (next < longest) {
                break;
            }
        }
        return run;
    }

    /// @return length of the datagram
    private int prepare(final int entry) {
        final int bytes = ring.payloadLengths()[entry];
        if (bytes < 0 || bytes > ring.payloadBytes()) {
            throw new IllegalArgumentException(
                    "send ring: expected 0 … " + ring.payloadBytes() + " payload bytes, got " + bytes);
        }
        messages.payloadBytes(entry, bytes);
        return ring.headerBytes() + bytes;
    }

    /// @return datagrams in the first `sent` messages
    private int count(final int first, final int sent) {
        int datagrams = 0;
        for (int i = 0; i < sent; i++) {
            datagrams += segments[i];
        }
        long bytes = (long) datagrams * ring.headerBytes();
        for (int i = 0; i < datagrams; i++) {
            bytes += ring.payloadLengths()[first + i];
        }
        counts.add(LaneCounter.SENT_DATAGRAMS, datagrams);
        counts.add(LaneCounter.SENT_BYTES, bytes);
        return datagrams;
    }

    private static boolean isBackPressure(final int errno) {
        return errno == Linux.EAGAIN || errno == Linux.ENOBUFS || errno == Linux.ENOMEM;
    }

    // A lane survives temporary errors: a network that is down, a filter, a missing peer, a datagram longer than a
    // route takes. An invalid descriptor stays invalid.
    static void requireUsable(final String function, final int errno) {
        if (errno == Linux.EBADF || errno == Linux.EFAULT || errno == Linux.ENOTSOCK) {
            throw new NativeException(
                    function, errno, "the lane's socket or ring is gone; keep rings until the lane is closed");
        }
    }
}
