package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.util.Objects;

/// A ring of send or receive requests, built once and posted again and again. Posting a run of slots writes two words
/// and calls once.
///
/// Shapes: requests are `[slots]`, each linked to the next and the last to the first; buffers are
/// `[slots][elements]`.
///
/// Threading: one thread at a time. Memory is the arena's and must be open while posting. Buffers and their regions
/// stay
/// the caller's, until the requests complete.
abstract sealed class RequestRing permits ReceiveRequests, SendRequests {
    // Both kinds of requests begin alike.
    private static final long WR_ID = VerbsLayouts.offset(VerbsLayouts.RECV_WR, "wr_id");
    private static final long NEXT = VerbsLayouts.offset(VerbsLayouts.RECV_WR, "next");
    private static final long SG_LIST = VerbsLayouts.offset(VerbsLayouts.RECV_WR, "sg_list");
    private static final long NUM_SGE = VerbsLayouts.offset(VerbsLayouts.RECV_WR, "num_sge");
    private static final long SGE_BYTES = VerbsLayouts.SGE.byteSize();
    private static final long ADDR = VerbsLayouts.offset(VerbsLayouts.SGE, "addr");
    private static final long LENGTH = VerbsLayouts.offset(VerbsLayouts.SGE, "length");
    private static final long LKEY = VerbsLayouts.offset(VerbsLayouts.SGE, "lkey");

    final MemorySegment requests;
    private final MemorySegment lists;
    private final MemorySegment refused;
    private final long requestBytes;
    private final int slots;
    private final int elements;
    private final String function;

    /// @param layout of a request
    /// @param function in messages: the name that verbs.h gives to posting
    RequestRing(
            final Arena arena, final StructLayout layout, final int slots, final int elements, final String function) {
        this.slots = slots;
        this.elements = elements;
        this.function = function;
        requestBytes = layout.byteSize();
        requests = arena.allocate(layout, slots);
        lists = arena.allocate(VerbsLayouts.SGE, (long) slots * elements);
        refused = arena.allocate(JAVA_LONG);
        for (int slot = 0; slot < slots; slot++) {
            request(slot, slot);
            requests.set(JAVA_LONG, at(slot) + NEXT, address((slot + 1) % slots));
            requests.set(JAVA_LONG, at(slot) + SG_LIST, lists.address() + (long) slot * elements * SGE_BYTES);
        }
    }

    public final int slots() {
        return slots;
    }

    final long at(final int slot) {
        return Objects.checkIndex(slot, slots) * requestBytes;
    }

    private long address(final int slot) {
        return requests.address() + slot * requestBytes;
    }

    private long elementAt(final int slot, final int element) {
        return ((long) slot * elements + Objects.checkIndex(element, elements)) * SGE_BYTES;
    }

    /// Sets the identifier that the completion of a slot carries: at first the slot.
    public final void request(final int slot, final long identifier) {
        requests.set(JAVA_LONG, at(slot) + WR_ID, identifier);
    }

    /// Sets buffer `element` of a slot. A request has as many elements as the highest set; a length of 0 takes nothing.
    public final void element(
            final int slot, final int element, final long address, final int bytes, final int localKey) {
        final long at = elementAt(slot, element);
        lists.set(JAVA_LONG, at + ADDR, address);
        lists.set(JAVA_INT, at + LENGTH, bytes);
        lists.set(JAVA_INT, at + LKEY, localKey);
        final long count = at(slot) + NUM_SGE;
        requests.set(JAVA_INT, count, Math.max(requests.get(JAVA_INT, count), element + 1));
    }

    /// Sets the length of a buffer that is sent.
    public final void length(final int slot, final int element, final int bytes) {
        lists.set(JAVA_INT, elementAt(slot, element) + LENGTH, bytes);
    }

    /// Bytes of all buffers of a slot.
    public final int bytes(final int slot) {
        final int count = requests.get(JAVA_INT, at(slot) + NUM_SGE);
        int bytes = 0;
        for (int i = 0; i < count; i++) {
            bytes += lists.get(JAVA_INT, elementAt(slot, i) + LENGTH);
        }
        return bytes;
    }

    /// Hands a chain of requests to the driver.
    ///
    /// @param first address of the first request
    /// @param refused address where the driver writes the first request that it did not take
    /// @return 0, or the errno
    abstract int postChain(QueuePair queuePair, long first, long refused);

    /// Posts `count` consecutive slots beginning at `first`, wrapping at the ring's end.
    ///
    /// @return how many were taken, from the first on: fewer when the queue is full
    /// @throws io.framecast.api.error.NativeException when the queue takes none at all, such as in a wrong state
    public int post(final QueuePair queuePair, final int first, final int count) {
        Objects.checkIndex(first, slots);
        if (count <= 0) {
            return 0;
        }
        if (count > slots) {
            throw new IllegalArgumentException(function + ": expected at most " + slots + " slots, got " + count);
        }
        final int end = first + count;
        final int last = end > slots ? end - slots - 1 : end - 1;
        requests.set(JAVA_LONG, at(last) + NEXT, 0);
        refused.set(JAVA_LONG, 0, 0);
        final int errno = postChain(queuePair, address(first), refused.address());
        requests.set(JAVA_LONG, at(last) + NEXT, address(last + 1 == slots ? 0 : last + 1));
        return errno == 0 ? count : taken(queuePair, first, errno);
    }

    // Some drivers return the errno as a negative number.
    private int taken(final QueuePair queuePair, final int first, final int status) {
        final int errno = Math.abs(status);
        if (errno != VerbsErrors.ENOMEM && errno != VerbsErrors.EAGAIN && errno != VerbsErrors.ENOSPC) {
            throw VerbsErrors.of(function, errno, queuePair.toString());
        }
        final long at = refused.get(JAVA_LONG, 0) - requests.address();
        // Some drivers fail after they took all requests: the fate of these requests is unknown.
        if (at < 0 || at >= requests.byteSize()) {
            throw VerbsErrors.of(function, errno, queuePair + " does not report the requests that it took");
        }
        final int slot = (int) (at / requestBytes);
        return slot >= first ? slot - first : slot - first + slots;
    }
}
