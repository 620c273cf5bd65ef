package io.framecast.engine.udp;

import io.framecast.engine.libc.Linux;
import io.framecast.engine.net.RedirectedSlots;
import io.framecast.reliability.memory.Words;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// An array of `mmsghdr`, reused for every call, over the slots of a ring. A message is a list of consecutive
/// slots: one datagram, or several of one length (the last may be shorter) that the kernel cuts or has joined.
///
/// The scatter or gather lists of all slots are one array of `iovec`, written once: `{header 0, payload 0, header 1,
/// payload 1, …}`, or payloads only where headers are empty. A batch of consecutive slots is a pointer into the array;
/// the first slots are repeated behind the last ones, so that a batch may wrap.
final class MessageBatch {
    /// Messages per system call. More gain nothing: the kernel's work per message is a hundred times the call.
    static final int MESSAGES_MAX = 64;

    private final MemorySegment messages;
    private final MemorySegment controls;
    private final MemorySegment iovecs;
    private final int perSlot;
    private final int ringSlots;

    /// One part of each slot, such as its header.
    ///
    /// @param stride distance of two of them
    /// @param bytes length of each; 0 where slots have no such part
    record Parts(MemorySegment memory, int stride, int bytes) {
        static final Parts NONE = new Parts(MemorySegment.NULL, 0, 0);
    }

    /// @param wrapMax slots that are repeated behind the end
    MessageBatch(final Arena arena, final Parts headers, final Parts payloads, final int slots, final int wrapMax) {
        if (!payloads.memory.isNative() || (headers.bytes > 0 && !headers.memory.isNative())) {
            throw new IllegalArgumentException("ring: expected native memory, got memory on the heap");
        }
        messages = arena.allocate((long) MESSAGES_MAX * Linux.MMSGHDR_BYTES, Long.BYTES);
        controls = arena.allocate((long) MESSAGES_MAX * Linux.CMSG_SPACE_OF_INT, Long.BYTES);
        perSlot = headers.bytes > 0 ? 2 : 1;
        ringSlots = slots;
        final int entries = slots + wrapMax;
        iovecs = arena.allocate((long) entries * perSlot * Linux.IOVEC_BYTES, Long.BYTES);
        for (int entry = 0; entry < entries; entry++) {
            final long slot = entry % slots;
            if (perSlot == 2) {
                write(listOffset(entry), headers.memory.address() + slot * headers.stride, headers.bytes);
            }
            write(payloadOffset(entry), payloads.memory.address() + slot * payloads.stride, payloads.bytes);
        }
    }

    /// One message with one payload.
    static MessageBatch of(final Arena arena, final MemorySegment payload) {
        final int bytes = (int) payload.byteSize();
        return new MessageBatch(arena, Parts.NONE, new Parts(payload, bytes, bytes), 1, 0);
    }

    private void write(final long offset, final long base, final long bytes) {
        write(iovecs, offset, base, bytes);
    }

    private static void write(final MemorySegment list, final long offset, final long base, final long bytes) {
        Words.setLong(list, offset + Linux.IOV_BASE, base);
        Words.setLong(list, offset + Linux.IOV_LEN, bytes);
    }

    private long listOffset(final int entry) {
        return (long) entry * perSlot * Linux.IOVEC_BYTES;
    }

    private long payloadOffset(final int entry) {
        return listOffset(entry) + (long) (perSlot - 1) * Linux.IOVEC_BYTES;
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

    /// Points message `index` at the lists of `slots` entries from `entry` on: a slot's number, or its number +
    /// slots behind the end.
    void pointTo(final int index, final int entry, final int slots) {
        setList(index, iovecs.address() + listOffset(entry), (long) slots * perSlot);
    }

    /// Points message 0 at the lists of `slots` entries and, behind them, at other memory.
    ///
    /// @param list holds the joined list
    void pointToWithSurplus(final MemorySegment list, final int entry, final int slots, final MemorySegment behind) {
        final long end = listOffset(slots);
        MemorySegment.copy(iovecs, listOffset(entry), list, 0, end);
        write(list, end, behind.address(), behind.byteSize());
        setList(0, list.address(), (long) slots * perSlot + 1);
    }

    /// Points message `index` at the lists of `slots` entries, of which some are redirected.
    ///
    /// @param list of [#newRedirectedList]
    /// @param element of that list, the first to write
    /// @param behind memory behind the entries; null for none
    /// @return behind the last element written
    int pointToRedirected(
            final int index,
            final MemorySegment list,
            final int element,
            final RedirectedSlots redirected,
            final int entry,
            final int slots,
            final @Nullable MemorySegment behind) {
        int next = element;
        for (int i = 0; i < slots; i++) {
            final int at = entry + i;
            final int room = redirected.room(at % ringSlots);
            for (int part = 0; part < perSlot - 1; part++) {
                next = append(list, next, base(listOffset(at)), length(listOffset(at)));
            }
            if (room > 0) {
                next = append(list, next, redirected.address(at % ringSlots), room);
            }
            final long payload = payloadOffset(at);
            if (room < length(payload)) {
                next = append(list, next, base(payload) + room, length(payload) - room);
            }
        }
        if (behind != null) {
            next = append(list, next, behind.address(), behind.byteSize());
        }
        setList(index, list.address() + (long) element * Linux.IOVEC_BYTES, (long) next - element);
        return next;
    }

    private static int append(final MemorySegment list, final int element, final long base, final long bytes) {
        write(list, (long) element * Linux.IOVEC_BYTES, base, bytes);
        return element + 1;
    }

    private long base(final long offset) {
        return Words.getLong(iovecs, offset + Linux.IOV_BASE);
    }

    private long length(final long offset) {
        return Words.getLong(iovecs, offset + Linux.IOV_LEN);
    }

    /// Elements that the list of a slot has at most where it is redirected.
    int redirectedPerSlot() {
        return perSlot + 1;
    }

    /// A list for [#pointToRedirected].
    MemorySegment newRedirectedList(final Arena arena, final int slots) {
        return arena.allocate(((long) slots * redirectedPerSlot() + 1) * Linux.IOVEC_BYTES, Long.BYTES);
    }

    /// A list for [#pointToWithSurplus].
    MemorySegment newList(final Arena arena, final int slots) {
        return arena.allocate(((long) slots * perSlot + 1) * Linux.IOVEC_BYTES, Long.BYTES);
    }

    /// Bytes of an entry's payload that are to be sent.
    void payloadBytes(final int entry, final int bytes) {
        Words.setLong(iovecs, payloadOffset(entry) + Linux.IOV_LEN, bytes);
    }

    private void setList(final int index, final long list, final long elements) {
        Words.setLong(messages, offset(index) + Linux.MSG_IOV, list);
        Words.setLong(messages, offset(index) + Linux.MSG_IOVLEN, elements);
    }

    /// Addresses message `index` to a `sockaddr`, or to the socket's own peer with 0.
    void address(final int index, final long sockaddr, final int sockaddrBytes) {
        Words.setLong(messages, offset(index) + Linux.MSG_NAME, sockaddr);
        Words.setInt(messages, offset(index) + Linux.MSG_NAMELEN, sockaddrBytes);
    }

    /// Lets the kernel cut message `index` into datagrams of this length; 0 for one datagram.
    void segment(final int index, final int datagramBytes) {
        final long control = controlOffset(index);
        if (datagramBytes > 0) {
            Words.setLong(controls, control + Linux.CMSG_LEN, Linux.CMSG_LEN_OF_SHORT);
            Words.setInt(controls, control + Linux.CMSG_LEVEL, Linux.SOL_UDP);
            Words.setInt(controls, control + Linux.CMSG_TYPE, Linux.UDP_SEGMENT);
            Words.setShort(controls, control + Linux.CMSG_DATA, (short) datagramBytes);
        }
        attach(index, datagramBytes > 0);
    }

    /// Makes room for the length of the datagrams that the kernel joins into message `index`.
    void expectSegment(final int index) {
        attach(index, true);
    }

    private void attach(final int index, final boolean control) {
        Words.setLong(
                messages, offset(index) + Linux.MSG_CONTROL, control ? controls.address() + controlOffset(index) : 0);
        Words.setLong(messages, offset(index) + Linux.MSG_CONTROLLEN, control ? Linux.CMSG_SPACE_OF_INT : 0);
    }

    /// Length of the datagrams that were joined into message `index`; 0 when it is one datagram.
    int joinedBytes(final int index) {
        final long control = controlOffset(index);
        final boolean joined = Words.getLong(messages, offset(index) + Linux.MSG_CONTROLLEN) > 0
                && Words.getInt(controls, control + Linux.CMSG_LEVEL) == Linux.SOL_UDP
                && Words.getInt(controls, control + Linux.CMSG_TYPE) == Linux.UDP_GRO;
        return joined ? Words.getInt(controls, control + Linux.CMSG_DATA) : 0;
    }

    /// Bytes that message `index` received.
    int bytes(final int index) {
        return Words.getInt(messages, offset(index) + Linux.MSG_LEN);
    }

    /// Whether message `index` was longer than its list.
    boolean isTruncated(final int index) {
        return (Words.getInt(messages, offset(index) + Linux.MSG_FLAGS) & Linux.MSG_TRUNC) != 0;
    }
}
