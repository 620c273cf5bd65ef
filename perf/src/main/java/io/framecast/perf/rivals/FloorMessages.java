package io.framecast.perf.rivals;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.framecast.engine.libc.Linux;
import io.framecast.perf.harness.LinuxSocket;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// An array of struct mmsghdr with one iovec each, and room for one control message each.
final class FloorMessages {
    private final MemorySegment messages;
    private final MemorySegment iovecs;
    private final MemorySegment controls;
    private final int count;

    FloorMessages(final Arena arena, final int count) {
        this.count = count;
        messages = arena.allocate((long) count * Linux.MMSGHDR_BYTES, Long.BYTES);
        iovecs = arena.allocate((long) count * Linux.IOVEC_BYTES, Long.BYTES);
        controls = arena.allocate((long) count * Linux.CMSG_SPACE_OF_INT, Long.BYTES);
        for (int i = 0; i < count; i++) {
            final long message = (long) i * Linux.MMSGHDR_BYTES;
            final long iovec = iovecs.address() + (long) i * Linux.IOVEC_BYTES;
            messages.set(JAVA_LONG, message + Linux.MSG_IOV, iovec);
            messages.set(JAVA_LONG, message + Linux.MSG_IOVLEN, 1);
        }
    }

    int count() {
        return count;
    }

    private long address(final int index) {
        return messages.address() + (long) index * Linux.MMSGHDR_BYTES;
    }

    /// Sends some of the messages, waiting for room.
    void send(final LinuxSocket socket, final int first, final int most) {
        int sent = 0;
        while (sent < most) {
            final int result = socket.send(address(first + sent), most - sent);
            if (result < 0 && socket.errno() != Linux.EINTR) {
                throw new IllegalStateException("floor: sendmmsg: errno " + socket.errno());
            }
            sent += Math.max(0, result);
        }
    }

    /// Sends the first message to a peer that may not be there yet, or any more.
    void sendAnyway(final LinuxSocket socket) {
        // The call reports the error of the datagram before, refused by the other machine, here, once.
        if (socket.send(address(0), 1) < 0 && socket.errno() == Linux.ECONNREFUSED) {
            socket.send(address(0), 1);
        }
    }

    /// Waits for at least one message.
    ///
    /// @return how many there are; 0 when the time is over
    int receive(final LinuxSocket socket, final int flags) {
        return socket.receive(address(0), count, flags);
    }

    void aim(final int index, final long address, final long bytes) {
        final long iovec = (long) index * Linux.IOVEC_BYTES;
        iovecs.set(JAVA_LONG, iovec, address);
        iovecs.set(JAVA_LONG, iovec + Linux.IOV_LEN, bytes);
    }

    /// Makes room for a control message, which the kernel's last answer has used up.
    void expectControl(final int index) {
        final long message = (long) index * Linux.MMSGHDR_BYTES;
        final long control = controls.address() + (long) index * Linux.CMSG_SPACE_OF_INT;
        messages.set(JAVA_LONG, message + Linux.MSG_CONTROL, control);
        messages.set(JAVA_LONG, message + Linux.MSG_CONTROLLEN, Linux.CMSG_SPACE_OF_INT);
    }

    int length(final int index) {
        return messages.get(JAVA_INT, (long) index * Linux.MMSGHDR_BYTES + Linux.MSG_LEN);
    }

    /// How long the datagrams are that were received as one message; its whole length where it is a single one.
    int segmentBytes(final int index) {
        final long message = (long) index * Linux.MMSGHDR_BYTES;
        final long control = (long) index * Linux.CMSG_SPACE_OF_INT;
        final boolean isKnown = messages.get(JAVA_LONG, message + Linux.MSG_CONTROLLEN) >= Linux.CMSG_DATA
                && controls.get(JAVA_INT, control + Linux.CMSG_LEVEL) == Linux.SOL_UDP
                && controls.get(JAVA_INT, control + Linux.CMSG_TYPE) == Linux.UDP_GRO;
        return isKnown ? controls.get(JAVA_INT, control + Linux.CMSG_DATA) : length(index);
    }
}
