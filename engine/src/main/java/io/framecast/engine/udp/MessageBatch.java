package io.framecast.engine.udp;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// An array of `mmsghdr`, reused for every call: message `i` stands for one datagram whose list lies in a
/// [SlotIovecs].
final class MessageBatch {
    /// Datagrams per system call. More gain nothing: the kernel's work per datagram is a hundred times the call.
    static final int MESSAGES_MAX = 64;

    private final MemorySegment messages;
    private final SlotIovecs iovecs;

    MessageBatch(final Arena arena, final SlotIovecs iovecs) {
        this.iovecs = iovecs;
        messages = arena.allocate((long) MESSAGES_MAX * SocketLayouts.MMSGHDR_BYTES, Long.BYTES);
        for (int i = 0; i < MESSAGES_MAX; i++) {
            messages.set(JAVA_LONG, offset(i) + SocketLayouts.MSG_IOVLEN, iovecs.perSlot());
        }
    }

    private static long offset(final int index) {
        return (long) index * SocketLayouts.MMSGHDR_BYTES;
    }

    long address() {
        return messages.address();
    }

    /// Points message `index` at an entry's list.
    void aim(final int index, final int entry) {
        messages.set(JAVA_LONG, offset(index) + SocketLayouts.MSG_IOV, iovecs.address(entry));
    }

    /// Addresses message `index` to a `sockaddr`, or to the socket's own peer with 0.
    void address(final int index, final long sockaddr, final int sockaddrBytes) {
        messages.set(JAVA_LONG, offset(index) + SocketLayouts.MSG_NAME, sockaddr);
        messages.set(JAVA_INT, offset(index) + SocketLayouts.MSG_NAMELEN, sockaddrBytes);
    }

    /// Bytes that message `index` received.
    int bytes(final int index) {
        return messages.get(JAVA_INT, offset(index) + SocketLayouts.MSG_LEN);
    }

    /// Whether message `index` was longer than its list.
    boolean isTruncated(final int index) {
        return (messages.get(JAVA_INT, offset(index) + SocketLayouts.MSG_FLAGS) & SocketLayouts.MSG_TRUNC) != 0;
    }
}
