package io.framecast.engine.udp;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.framecast.engine.libc.Linux;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// An array of `mmsghdr`, reused for every call. A message is a list of consecutive slots of a [SlotIovecs]:
/// one datagram, or several of one length (the last may be shorter) that the kernel cuts or has joined.
final class MessageBatch {
    /// Messages per system call. More gain nothing: the kernel's work per message is a hundred times the call.
    static final int MESSAGES_MAX = 64;

    private final MemorySegment messages;
    private final MemorySegment controls;
    private final SlotIovecs iovecs;

    MessageBatch(final Arena arena, final SlotIovecs iovecs) {
        this.iovecs = iovecs;
        messages = arena.allocate((long) MESSAGES_MAX * Linux.MMSGHDR_BYTES, Long.BYTES);
        controls = arena.allocate((long) MESSAGES_MAX * Linux.CMSG_SPACE_OF_INT, Long.BYTES);
    }

    private static long offset(final int index) {
        return (long) index * Linux.MMSGHDR_BYTES;
    }

    private static long controlOffset(final int index) {
        return (long) index * Linux.CMSG_SPACE_OF_INT;
    }

    long address() {
        return messages.address();
    }

    /// Points message `index` at the lists of `slots` entries.
    void aim(final int index, final int entry, final int slots) {
        aimAt(index, iovecs.address(entry), (long) slots * iovecs.perSlot());
    }

    /// Points message `index` at any list.
    void aimAt(final int index, final long list, final long elements) {
        messages.set(JAVA_LONG, offset(index) + Linux.MSG_IOV, list);
        messages.set(JAVA_LONG, offset(index) + Linux.MSG_IOVLEN, elements);
    }

    /// Addresses message `index` to a `sockaddr`, or to the socket's own peer with 0.
    void address(final int index, final long sockaddr, final int sockaddrBytes) {
        messages.set(JAVA_LONG, offset(index) + Linux.MSG_NAME, sockaddr);
        messages.set(JAVA_INT, offset(index) + Linux.MSG_NAMELEN, sockaddrBytes);
    }

    /// Lets the kernel cut message `index` into datagrams of this length; 0 for one datagram.
    void segment(final int index, final int datagramBytes) {
        final long control = controlOffset(index);
        if (datagramBytes > 0) {
            controls.set(JAVA_LONG, control + Linux.CMSG_LEN, Linux.CMSG_LEN_OF_SHORT);
            controls.set(JAVA_INT, control + Linux.CMSG_LEVEL, Linux.SOL_UDP);
            controls.set(JAVA_INT, control + Linux.CMSG_TYPE, Linux.UDP_SEGMENT);
            controls.set(JAVA_SHORT, control + Linux.CMSG_DATA, (short) datagramBytes);
        }
        attach(index, datagramBytes > 0);
    }

    /// Makes room for the length of the datagrams that the kernel joins into message `index`.
    void expectSegment(final int index) {
        attach(index, true);
    }

    private void attach(final int index, final boolean control) {
        messages.set(
                JAVA_LONG, offset(index) + Linux.MSG_CONTROL, control ? controls.address() + controlOffset(index) : 0);
        messages.set(JAVA_LONG, offset(index) + Linux.MSG_CONTROLLEN, control ? Linux.CMSG_SPACE_OF_INT : 0);
    }

    /// Length of the datagrams that were joined into message `index`; 0 when it is one datagram.
    int joinedBytes(final int index) {
        final long control = controlOffset(index);
        final boolean joined = messages.get(JAVA_LONG, offset(index) + Linux.MSG_CONTROLLEN) > 0
                && controls.get(JAVA_INT, control + Linux.CMSG_LEVEL) == Linux.SOL_UDP
                && controls.get(JAVA_INT, control + Linux.CMSG_TYPE) == Linux.UDP_GRO;
        return joined ? controls.get(JAVA_INT, control + Linux.CMSG_DATA) : 0;
    }

    /// Bytes that message `index` received.
    int bytes(final int index) {
        return messages.get(JAVA_INT, offset(index) + Linux.MSG_LEN);
    }

    /// Whether message `index` was longer than its list.
    boolean isTruncated(final int index) {
        return (messages.get(JAVA_INT, offset(index) + Linux.MSG_FLAGS) & Linux.MSG_TRUNC) != 0;
    }
}
