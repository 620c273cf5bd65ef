package io.framecast.rdma.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/// A ring of receive requests, built once and posted again and again: request `slot` is a scatter list of up
/// to `elements` buffers. Posting a run of slots writes two words and calls once.
///
/// Shapes: requests are `[slots]`, each linked to the next and the last to the first; buffers are
/// `[slots][elements]`.
///
/// Threading: one thread at a time. Memory is the arena's and must be open while posting; buffers and their
/// regions stay the caller's, until the receives complete.
public final class ReceiveRequests {
    private static final long BYTES = VerbsLayouts.RECV_WR.byteSize();
    private static final long WR_ID = VerbsLayouts.offset(VerbsLayouts.RECV_WR, "wr_id");
    private static final long NEXT = VerbsLayouts.offset(VerbsLayouts.RECV_WR, "next");
    private static final long SG_LIST = VerbsLayouts.offset(VerbsLayouts.RECV_WR, "sg_list");
    private static final long NUM_SGE = VerbsLayouts.offset(VerbsLayouts.RECV_WR, "num_sge");

    private final MemorySegment requests;
    private final Elements elements;
    private final MemorySegment refused;
    private final int slots;

    /// @param tag goes into the upper half of each request's identifier, whose lower half is the slot
    public ReceiveRequests(final Arena arena, final int slots, final int elements, final int tag) {
        this.slots = slots;
        requests = arena.allocate(VerbsLayouts.RECV_WR, slots);
        this.elements = new Elements(arena, slots, elements);
        refused = arena.allocate(JAVA_LONG);
        for (int slot = 0; slot < slots; slot++) {
            final long at = slot * BYTES;
            requests.set(JAVA_LONG, at + WR_ID, requestOf(tag, slot));
            requests.set(JAVA_LONG, at + NEXT, address((slot + 1) % slots));
            requests.set(JAVA_LONG, at + SG_LIST, this.elements.address(slot));
        }
    }

    static long requestOf(final int tag, final int slot) {
        return (long) tag << Integer.SIZE | slot;
    }

    /// The slot of a request's identifier.
    public static int slotOf(final long request) {
        return (int) request;
    }

    /// The tag of a request's identifier.
    public static int tagOf(final long request) {
        return (int) (request >>> Integer.SIZE);
    }

    public int slots() {
        return slots;
    }

    /// Sets buffer `element` of a slot. Elements are filled in order; a length of 0 takes nothing.
    public void element(final int slot, final int element, final long address, final int bytes, final int localKey) {
        elements.set(slot, element, address, bytes, localKey);
        final long count = slot * BYTES + NUM_SGE;
        requests.set(JAVA_INT, count, Math.max(requests.get(JAVA_INT, count), element + 1));
    }

    /// Posts `count` consecutive slots beginning at `first`, wrapping at the ring's end.
    ///
    /// @return how many were taken, from the first on: fewer when the queue is full
    /// @throws io.framecast.api.error.NativeException when the queue pair takes none at all, such as in a
    ///     wrong state
    public int post(final ReceiveQueue queue, final int first, final int count) {
        Objects.checkIndex(first, slots);
        if (count <= 0) {
            return 0;
        }
        if (count > slots) {
            throw new IllegalArgumentException("receives: expected at most " + slots + " slots, got " + count);
        }
        final int end = first + count;
        final int last = end > slots ? end - slots - 1 : end - 1;
        requests.set(JAVA_LONG, last * BYTES + NEXT, 0);
        refused.set(JAVA_LONG, 0, 0);
        final int errno = queue.postReceives(address(first), refused.address());
        requests.set(JAVA_LONG, last * BYTES + NEXT, address(last + 1 == slots ? 0 : last + 1));
        return errno == 0 ? count : taken(queue, first, errno);
    }

    // Some drivers say it as a negative number.
    private int taken(final ReceiveQueue queue, final int first, final int status) {
        final int errno = Math.abs(status);
        if (errno != VerbsErrors.ENOMEM && errno != VerbsErrors.EAGAIN && errno != VerbsErrors.ENOSPC) {
            throw VerbsErrors.of("ibv_post_recv", errno, queue.toString());
        }
        final long at = refused.get(JAVA_LONG, 0) - requests.address();
        // Some drivers say no after they took all of it: what became of it nobody can tell.
        if (at < 0 || at >= requests.byteSize()) {
            throw VerbsErrors.of("ibv_post_recv", errno, queue + " does not say what it took");
        }
        final int slot = (int) (at / BYTES);
        return slot >= first ? slot - first : slot - first + slots;
    }

    private long address(final int slot) {
        return requests.address() + slot * BYTES;
    }
}
